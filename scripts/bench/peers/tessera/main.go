// Command tessera takes records at POST /v1/tiered-attest into a Tessera log on
// the disk, for the bench. An answer is sent once the record is integrated.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/transparency-dev/tessera"
	"github.com/transparency-dev/tessera/storage/posix"
	"golang.org/x/mod/sumdb/note"
	"k8s.io/klog/v2"
)

const (
	// Name of the log in its checkpoints.
	origin = "bench.example"
	// As often as the node beside it seals a batch.
	checkpointInterval = time.Second
	// Longest body taken, in bytes.
	maxBody = 1 << 16
)

func main() {
	storage := flag.String("storage", "", "folder of the log")
	batchAge := flag.Duration("batch-age", tessera.DefaultBatchMaxAge, "longest wait for a batch to fill")
	flag.Parse()
	// Tessera's errors go to standard error, and what it says of its course nowhere.
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	if err := run(*storage, *batchAge); err != nil {
		log.Fatal(err)
	}
}

func run(storage string, batchAge time.Duration) error {
	ctx := context.Background()
	privateKey, _, err := note.GenerateKey(rand.Reader, origin)
	if err != nil {
		return err
	}
	signer, err := note.NewSigner(privateKey)
	if err != nil {
		return err
	}
	driver, err := posix.New(ctx, posix.Config{Path: storage})
	if err != nil {
		return err
	}
	appender, _, _, err := tessera.NewAppender(ctx, driver, tessera.NewAppendOptions().
		WithCheckpointSigner(signer).
		WithCheckpointInterval(checkpointInterval).
		WithBatching(tessera.DefaultBatchMaxSize, batchAge))
	if err != nil {
		return err
	}
	http.HandleFunc("POST /v1/tiered-attest", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		index, err := appender.Add(r.Context(), tessera.NewEntry(body))()
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"index":%d}`, index.Index)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	// The parent reads where it listens, and closes standard input to end it.
	if err := json.NewEncoder(os.Stdout).Encode(map[string]int{"port": listener.Addr().(*net.TCPAddr).Port}); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	return http.Serve(listener, nil)
}
