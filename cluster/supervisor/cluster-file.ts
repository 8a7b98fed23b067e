import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DemoKeys } from './demo-keys.ts';

/** What `cluster.json` tells scripts and people: where everything is, and the demo keys. */
export interface ClusterFile {
  readonly nodes: readonly {
    readonly id: string;
    readonly region: string;
    readonly baseUrl: string;
    readonly nodeUrl: string;
    readonly pid: number | null;
  }[];
  readonly ledger: {
    readonly network: string;
    readonly topicId: string;
    readonly mirrorUrl: string;
    readonly pid: number | null;
  };
  readonly demo: { readonly apiKeys: DemoKeys };
}

export const CLUSTER_FILE = 'cluster.json';

/** Replaces the file whole, so that a reader never sees half of it. It holds keys: for the owner only. */
export async function writeClusterFile(home: string, content: ClusterFile): Promise<void> {
  const file = join(home, CLUSTER_FILE);
  await writeFile(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
