/** The one place that names the SDK: its successor can take its place here. */
export type Sdk = typeof import('@hashgraph/sdk');
export type { Client, PublicKey } from '@hashgraph/sdk';

/** Loaded at first use: it costs some 300 ms and 66 MB. */
export function loadSdk(): Promise<Sdk> {
  return import('@hashgraph/sdk');
}
