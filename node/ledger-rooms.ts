import type { Logger } from 'pino';
import type { Roster } from '../protocol/keys/roster.ts';
import { MirrorClient } from './anchoring/mirror-client.ts';
import { rosterLedger } from './anchoring/roster-ledger.ts';
import type { NodeConfig } from './config/config.ts';
import { FactBook } from './facts/fact-book.ts';
import { factCatalogue } from './facts/fact-catalogue.ts';

/** What is read from the mirrors of the ledger for those who ask. */
export interface LedgerRooms extends AsyncDisposable {
  readonly mirror: MirrorClient;
  readonly facts: FactBook;
}

interface LedgerRoomsOptions {
  readonly config: Pick<NodeConfig, 'ledger' | 'production'>;
  readonly roster: Pick<Roster, 'ledger'>;
  readonly now: () => number;
  readonly log: Logger;
}

/** Asks nobody anything yet. */
export function openLedgerRooms({ config, roster, now, log }: LedgerRoomsOptions): LedgerRooms {
  const { network, topicId, mirrors } = rosterLedger(config, roster);
  const mirror = new MirrorClient(mirrors);
  const facts = new FactBook({ network, catalogue: factCatalogue(topicId), mirror, now, log });
  return { mirror, facts, [Symbol.asyncDispose]: () => facts[Symbol.asyncDispose]() };
}
