import { addConsensusNode } from './consensus-node.ts';
import { GrpcServer, LOOPBACK } from './grpc-server.ts';
import { Ledger } from './ledger.ts';
import type { LedgerOptions } from './ledger.ts';
import { addMirror } from './mirror-grpc.ts';
import { MirrorRest } from './mirror-rest.ts';
import { MirrorView } from './mirror-view.ts';
import type { NetworkNode } from './network-name.ts';

export interface LocalLedgerOptions extends Omit<LedgerOptions, 'nodes'> {
  /** One consensus node each; 0 lets the system choose. */
  readonly nodePorts: readonly number[];
  readonly mirrorGrpcPort: number;
  readonly mirrorPort: number;
}

/** A running local ledger and where it can be reached. */
export interface LocalLedger extends AsyncDisposable {
  readonly ledger: Ledger;
  readonly nodes: readonly NetworkNode[];
  /** `host:port` of the mirror's gRPC. */
  readonly mirrorGrpc: string;
  /** Base URL of the mirror REST API, without `/api/v1`. */
  readonly mirrorUrl: string;
  /** Rejects if the ledger can no longer write. */
  readonly finished: Promise<void>;
}

const FIRST_NODE_ACCOUNT = 3n;

/**
 * Starts a development stand-in for a Hedera network on loopback: consensus nodes (accounts 0.0.3 on), mirror gRPC and
 * mirror REST over one ledger.
 *
 * @throws Error if the store has been changed or is in use, or a port is taken; then nothing is left running
 */
export async function startLocalLedger(options: LocalLedgerOptions): Promise<LocalLedger> {
  const accounts = options.nodePorts.map((_port, index) => FIRST_NODE_ACCOUNT + BigInt(index));
  await using starting = new AsyncDisposableStack();
  const ledger = starting.use(await Ledger.open({ ...options, nodes: accounts }));
  const nodes: NetworkNode[] = [];
  for (const [index, account] of accounts.entries()) {
    const server = starting.use(new GrpcServer());
    addConsensusNode(server, ledger, account);
    nodes.push({ account, host: LOOPBACK, port: await server.listen(options.nodePorts[index] ?? 0) });
  }
  const view = new MirrorView(ledger);
  const mirror = starting.use(new GrpcServer());
  addMirror(mirror, view, nodes);
  const mirrorGrpc = `${LOOPBACK}:${await mirror.listen(options.mirrorGrpcPort)}`;
  const rest = starting.use(new MirrorRest(view, nodes));
  const mirrorUrl = `http://${LOOPBACK}:${await rest.listen(options.mirrorPort)}`;
  const running = starting.move();
  return {
    ledger,
    nodes,
    mirrorGrpc,
    mirrorUrl,
    finished: ledger.finished,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
