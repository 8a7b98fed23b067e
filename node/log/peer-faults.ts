import { PEER_FAULTS, type PeerFault } from '../../protocol/api/peer-faults.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { PeerStatementError } from './members/peer-statement-error.ts';

/** How often this node caught a peer at a fault. */
export interface PeerFaultCount {
  readonly peer: NodeId;
  readonly fault: PeerFault;
  readonly count: number;
  /** When it was seen last, in epoch milliseconds. */
  readonly last: number;
}

/**
 * What peers were caught at since this process started: observations of this node, for its operator. Nobody is judged
 * by them; what is provable to others is kept apart, signed (`Equivocations`). Bounded: members times kinds.
 */
export class PeerFaults {
  readonly #now: () => number;
  readonly #counts = new Map<NodeId, Map<PeerFault, { count: number; last: number }>>();

  constructor(now: () => number) {
    this.#now = now;
  }

  note(peer: NodeId, fault: PeerFault): void {
    const counts = this.#counts.get(peer) ?? new Map<PeerFault, { count: number; last: number }>();
    this.#counts.set(peer, counts);
    counts.set(fault, { count: (counts.get(fault)?.count ?? 0) + 1, last: this.#now() });
  }

  /** Notes an error that shows a fault of the peer who sent what caused it; others are nobody's fault, or not yet. */
  noteError(peer: NodeId, error: unknown): void {
    if (!(error instanceof PeerStatementError)) return;
    if (error.fault === 'malformed' || error.fault === 'forged') this.note(peer, error.fault);
  }

  /** By peer, then in the order of `PEER_FAULTS`. */
  all(): readonly PeerFaultCount[] {
    return [...this.#counts].flatMap(([peer, counts]) =>
      PEER_FAULTS.flatMap((fault) => {
        const seen = counts.get(fault);
        return seen === undefined ? [] : [{ peer, fault, ...seen }];
      }),
    );
  }
}
