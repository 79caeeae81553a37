// The terminal's colours, dark and light; beside colours.css, which has the page's.

const DARK = {
  background: "#0e1116", foreground: "#d6dbe3", cursor: "#d6dbe3", cursorAccent: "#0e1116", selectionBackground: "#2f4468",
  black: "#1b2028", red: "#ef7b7b", green: "#8ac48a", yellow: "#dfc07a", blue: "#82aaff", magenta: "#c39ae6", cyan: "#78c9d2", white: "#c6ccd6",
  brightBlack: "#67717f", brightRed: "#ff9c9c", brightGreen: "#a9dda9", brightYellow: "#f2d897", brightBlue: "#a8c5ff", brightMagenta: "#d9b9f5", brightCyan: "#9be2ea", brightWhite: "#f2f4f8",
};

const LIGHT = {
  background: "#ffffff", foreground: "#1d2430", cursor: "#1d2430", cursorAccent: "#ffffff", selectionBackground: "#cfe0ff",
  black: "#1d2430", red: "#b3302f", green: "#2a7a3b", yellow: "#8a6200", blue: "#2457c5", magenta: "#8239b0", cyan: "#0f7280", white: "#6a7380",
  brightBlack: "#7b8593", brightRed: "#cc4140", brightGreen: "#35914a", brightYellow: "#a17300", brightBlue: "#3a6de0", brightMagenta: "#9a50c8", brightCyan: "#1b8a99", brightWhite: "#3a434f",
};

export const palette = (dark) => (dark ? DARK : LIGHT);

/** Programs draw for a dark terminal more often than not; on a light one their pale colours are darkened until they can be read. */
export const contrast = (dark) => (dark ? 1 : 4.5);
