// Plain HTTP with encoding/json, which takes no text for a number.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

type standing struct {
	State     string  `json:"state"`
	Pid       *uint32 `json:"pid"`
	ExitCode  *int32  `json:"exit_code"`
	BytesRead uint64  `json:"bytes_read"`
	Seq       uint64  `json:"seq"`
}

type output struct {
	Data         []byte `json:"data"`
	Offset       uint64 `json:"offset"`
	NextOffset   uint64 `json:"next_offset"`
	TotalWritten uint64 `json:"total_written"`
}

func decodesNumbers(ctx context.Context, url, token string) error {
	var status standing
	if err := get(ctx, url+"/api/v1/status", token, &status); err != nil {
		return err
	}
	if status.State != "running" || status.Pid == nil || status.ExitCode != nil || status.BytesRead == 0 || status.Seq == 0 {
		return fmt.Errorf("status: %+v", status)
	}
	var out output
	if err := get(ctx, url+"/api/v1/output?offset=2&limit=5", token, &out); err != nil {
		return err
	}
	if len(out.Data) != 5 || out.Offset != 2 || out.NextOffset != 7 || out.TotalWritten < status.BytesRead {
		return fmt.Errorf("output: %+v", out)
	}
	return nil
}

func get(ctx context.Context, url, token string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK || response.ContentLength < 0 {
		return fmt.Errorf("%s: %s, length %d", url, response.Status, response.ContentLength)
	}
	return json.NewDecoder(response.Body).Decode(into)
}
