import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { DemoKeysShape } from './demo-keys-shape.ts';

const PidShape = Type.Union([Type.Integer(), Type.Null()]);

const ClusterFileShape = Type.Object({
  nodes: Type.Array(
    Type.Object({
      id: Type.String(),
      region: Type.String(),
      baseUrl: Type.String(),
      nodeUrl: Type.String(),
      pid: PidShape,
    }),
  ),
  ledger: Type.Object({ network: Type.String(), topicId: Type.String(), mirrorUrl: Type.String(), pid: PidShape }),
  /** Null where there is no anvil for the machine: nothing can be paid for then. */
  chain: Type.Union([
    Type.Object({
      rpcUrl: Type.String(),
      chainId: Type.Integer(),
      usdc: Type.String(),
      payTo: Type.String(),
      pid: PidShape,
    }),
    Type.Null(),
  ]),
  /** `directory` holds each mail as one `.eml` file. */
  mail: Type.Object({ smtpPort: Type.Integer(), directory: Type.String(), pid: PidShape }),
  /** The wallet holds USDC of the local chain. */
  demo: Type.Object({
    apiKeys: DemoKeysShape,
    wallet: Type.Object({ address: Type.String(), privateKey: Type.String() }),
  }),
});
/** What `cluster.json` tells scripts and people: where everything is, the demo keys and the demo wallet. */
export type ClusterFile = Static<typeof ClusterFileShape>;

export const CLUSTER_FILE = 'cluster.json';

const compiled = Compile(ClusterFileShape);

/** Replaces the file whole, so that a reader never sees half of it. It holds keys: for the owner only. */
export async function writeClusterFile(home: string, content: ClusterFile): Promise<void> {
  const file = join(home, CLUSTER_FILE);
  await writeFile(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

/** Throws where there is no cluster in the home. */
export async function readClusterFile(home: string): Promise<ClusterFile> {
  const file = join(home, CLUSTER_FILE);
  const value: unknown = JSON.parse(await readFile(file, 'utf8'));
  if (!compiled.Check(value)) throw new Error(`${file} is not of a local cluster`);
  return value;
}
