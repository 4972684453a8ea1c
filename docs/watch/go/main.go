// Prints each topic that is created: go run . c1:9646 c2:9646 c3:9646
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

type message struct {
	NextOffset int64 `json:"next_offset"`
	More       bool
	Changes    []struct {
		Data struct{ Name, TopicID string }
	}
}

// watch prints until the stream ends. from: where to continue; nil: with the topics that there are.
func watch(target string, from **int64) error {
	connection, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	stream, err := connection.NewStream(context.Background(), &grpc.StreamDesc{ServerStreams: true}, "/kraft.v1.Metadata/Watch")
	if err != nil {
		return err
	}
	asked, _ := json.Marshal(map[string]any{"from_offset": *from, "filter": map[string]any{"types": []string{"TOPIC_RECORD"}}})
	// A Body with JSON is encoded as a StringValue is: this program needs no generated code.
	if err := stream.SendMsg(wrapperspb.String(string(asked))); err != nil {
		return err
	}
	stream.CloseSend()
	for {
		var body wrapperspb.StringValue
		var told message
		if err := stream.RecvMsg(&body); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(body.Value), &told); err != nil {
			return err
		}
		for _, change := range told.Changes {
			fmt.Println(change.Data.Name, change.Data.TopicID)
		}
		if !told.More {
			*from = &told.NextOffset
		}
	}
}

func main() {
	var from *int64
	for number := 0; ; number++ {
		target := os.Args[1+number%(len(os.Args)-1)]
		err := watch(target, &from)
		if code := status.Code(err); code == codes.OutOfRange || code == codes.Aborted {
			from = nil
		}
		fmt.Fprintln(os.Stderr, target, err)
		time.Sleep(200 * time.Millisecond)
	}
}
