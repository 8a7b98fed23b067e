import type { Logger } from 'pino';
import type { NodeId } from '../../protocol/ids.ts';
import { timestampOfConsensus } from '../../protocol/time.ts';
import type { StatementFollower } from '../accounts/elsewhere/statement-follower.ts';
import type { Anchoring } from '../anchoring/anchoring.ts';
import type { LoggedDecision } from '../log/federation-log.ts';
import type { Rescue } from '../log/rescue.ts';
import type { StatementNamer } from '../federation/statement-namer.ts';
import type { Vouching } from '../log/vouching.ts';
import type { Sealer } from '../intake/sealing/sealer.ts';

/** Who goes on from what the log decides. */
export interface DecisionListeners {
  readonly self: NodeId;
  readonly sealer: Pick<Sealer, 'begin' | 'noteDecided' | 'signAnew'>;
  readonly vouching: Pick<Vouching, 'poke'>;
  readonly anchoring: Pick<Anchoring, 'noteChange' | 'noteDecided'>;
  readonly rescue: Pick<Rescue, 'noteRoster'>;
  readonly namer: Pick<StatementNamer, 'name'>;
  readonly foreignStatements: Pick<StatementFollower, 'noteMoved'>;
  /** The key of a node is revoked from now on. */
  readonly onRevoked: (node: NodeId) => void;
  readonly log: Logger;
}

/** Tells of decisions, in the order of the log, once they are on the disk. */
export function noteDecided(listeners: DecisionListeners, decided: readonly LoggedDecision[]): void {
  const { self, sealer, vouching, anchoring, rescue, namer, foreignStatements, onRevoked, log } = listeners;
  for (const { decision, named } of decided) {
    switch (named.type) {
      case 'roster':
        sealer.begin().catch((error: unknown) => log.error({ err: error }, 'the own chain could not begin'));
        rescue.noteRoster().catch((error: unknown) => log.error({ err: error }, 'what is held was not noted'));
        break;
      case 'revocation':
        if (named.node === self) void sealer.signAnew();
        onRevoked(named.node);
        break;
      case 'batch': {
        const { node, batch, envelope } = named;
        const at = timestampOfConsensus(decision.consensusTimestamp);
        if (node === self) sealer.noteDecided(batch, { envelope, at });
        vouching.poke(node);
        foreignStatements.noteMoved(node);
      }
    }
  }
  anchoring.noteDecided(decided.map(({ decision }) => decision.message));
  if (decided.some(({ named }) => named.type !== 'batch')) anchoring.noteChange();
  namer.name();
}
