//! How far an input got, in words and as an exit code.

use std::process::ExitCode;

use super::TIMED_OUT;
use super::words::{bytes, plain, print_json, print_or_complain};
use crate::proto::v1::{ReceiptPhase, SendInputResponse};

/// Prints what became of an input. It failed if it was refused, and took too long if the phase that was waited for has
/// not come yet.
pub fn report(answer: &SendInputResponse, wanted: ReceiptPhase, json: bool) -> anyhow::Result<ExitCode> {
    let (phase, good) = (phase(answer), is_reached(phase(answer), wanted));
    if json {
        print_json(answer)?;
    } else {
        print_or_complain(good, &describe(answer, wanted))?;
    }
    Ok(match phase {
        ReceiptPhase::Refused => ExitCode::FAILURE,
        _ if good => ExitCode::SUCCESS,
        _ => ExitCode::from(TIMED_OUT),
    })
}

fn phase(answer: &SendInputResponse) -> ReceiptPhase {
    answer.receipt.as_ref().map_or(ReceiptPhase::Written, |receipt| receipt.phase())
}

fn is_reached(phase: ReceiptPhase, wanted: ReceiptPhase) -> bool {
    match phase {
        ReceiptPhase::Echoed | ReceiptPhase::Accepted => true,
        ReceiptPhase::Written => wanted != ReceiptPhase::Echoed,
        _ => false,
    }
}

fn describe(answer: &SendInputResponse, wanted: ReceiptPhase) -> String {
    let amount = bytes(answer.bytes_written);
    let Some(receipt) = &answer.receipt else { return format!("written {amount}") };
    let place = format!("(receipt {}, output at {})", receipt.id, receipt.offset);
    match phase(answer) {
        ReceiptPhase::Refused => {
            let why = receipt.witness.as_deref().map(plain).unwrap_or_else(|| "no reason given".to_owned());
            format!("refused {amount}: {why} {place}")
        }
        ReceiptPhase::Queued => format!("queued {amount}, which the program has not read yet {place}"),
        ReceiptPhase::Echoed => format!("echoed {amount} {place}"),
        ReceiptPhase::Accepted => format!("accepted {amount} {place}"),
        reached if is_reached(reached, wanted) => format!("written {amount} {place}"),
        _ => format!("written {amount}, but no echo was seen in time {place}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::v1::Receipt;

    fn answer(phase: ReceiptPhase, witness: Option<&str>) -> SendInputResponse {
        let witness = witness.map(str::to_owned);
        let receipt = Receipt { id: 3, phase: phase.into(), witness, offset: 120, ..Default::default() };
        SendInputResponse { bytes_written: 6, receipt: Some(receipt) }
    }

    #[test]
    fn a_receipt_says_how_far_the_input_got() {
        let told = |phase, wanted| describe(&answer(phase, Some("exited")), wanted);
        use ReceiptPhase::{Echoed, Queued, Refused, Unconfirmed, Written};
        assert_eq!(told(Written, Written), "written 6 bytes (receipt 3, output at 120)");
        assert_eq!(told(Echoed, Echoed), "echoed 6 bytes (receipt 3, output at 120)");
        assert_eq!(told(Refused, Written), "refused 6 bytes: exited (receipt 3, output at 120)");
        assert!(told(Queued, Written).starts_with("queued 6 bytes, which the program has not read yet"));
        for phase in [Written, Unconfirmed] {
            assert!(told(phase, Echoed).starts_with("written 6 bytes, but no echo was seen"), "{phase:?}");
        }
    }

    #[test]
    fn only_what_was_waited_for_is_success() {
        use ReceiptPhase::{Accepted, Echoed, Queued, Unconfirmed, Unspecified, Written};
        assert!(is_reached(Written, Written) && is_reached(Echoed, Written) && is_reached(Accepted, Echoed));
        for phase in [Written, Queued, Unconfirmed, Unspecified] {
            assert!(!is_reached(phase, Echoed), "{phase:?}");
        }
        assert!(!is_reached(Queued, Written));
    }
}
