import type { NodeId } from '../../protocol/ids.ts';
import type { AnchoringConfig } from '../anchoring/ledger/config.ts';
import { MirrorClient } from '../anchoring/ledger/mirror-client.ts';
import { Auditor, type AuditorOptions } from './audits/auditor.ts';
import { FactCache } from './facts/fact-cache.ts';
import { factCatalogue } from './facts/fact-catalogue.ts';

/** What is read from the mirrors of the ledger for those who ask: facts about it, and what audits rest on. */
export interface LedgerServices extends AsyncDisposable {
  readonly facts: FactCache;
  readonly auditor: Auditor;
}

interface LedgerServicesOptions extends Omit<AuditorOptions, 'mirror' | 'members' | 'self'> {
  readonly config: { readonly id: NodeId };
  readonly ledger: AnchoringConfig;
}

/** Asks nobody anything yet. */
export function openLedgerServices(options: LedgerServicesOptions): LedgerServices {
  const { config, ledger, keys, now, log } = options;
  const { network, topicId, mirrors } = ledger;
  const mirror = new MirrorClient(mirrors);
  const facts = new FactCache({ network, catalogue: factCatalogue(topicId), mirror, now, log });
  const auditor = new Auditor({
    ...options,
    self: config.id,
    mirror,
    members: () => keys.rosters.current.members,
  });
  return { facts, auditor, [Symbol.asyncDispose]: () => facts[Symbol.asyncDispose]() };
}
