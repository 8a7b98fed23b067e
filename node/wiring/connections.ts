import type { Logger } from 'pino';
import { type EntityId, type NodeId, nodeId } from '../../protocol/ids.ts';
import { isRevoked, knownNode } from '../../protocol/log/decision-state.ts';
import { timestampOf } from '../../protocol/time.ts';
import type { AccountServices } from '../accounts/account-services.ts';
import type { Refusals } from '../accounts/limits/refusals.ts';
import type { AnchoringOptions } from '../anchoring/anchoring.ts';
import type { FederationOptions } from '../federation/federation.ts';
import type { LogFollowerOptions } from '../federation/log-follower.ts';
import type { OwnNames } from '../federation/start/node-start.ts';
import type { GovernanceServices } from '../governance/governance-services.ts';
import type { Intake, IntakeOptions } from '../intake/intake.ts';
import { recordTime } from '../intake/record-time.ts';
import type { SealerOptions } from '../intake/sealing/sealer.ts';
import type { Chains } from '../log/chains.ts';
import type { FederationLog } from '../log/federation-log.ts';
import { mayNameOwn, standingOf } from '../log/name-standing.ts';
import { startTable } from '../log/start-tables.ts';
import type { VouchingOptions } from '../log/vouching.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { TransportOptions } from '../transport/contract.ts';
import { noteDecided } from './decided.ts';
import { toldLater } from './foreign-account-services.ts';
import { rowsOfOwn } from './own-rows.ts';
import type { Parts } from './parts.ts';
import { haltSigning, onSealed } from './sealed-batches.ts';

export interface ConnectionsOptions {
  readonly parts: Parts;
  readonly self: NodeId;
  /** The node's own account on the ledger. */
  readonly operatorId: EntityId;
  readonly federationLog: FederationLog;
  readonly chains: Chains;
  readonly metrics: Metrics;
  readonly refusals: Refusals;
  readonly now: () => number;
  readonly log: Logger;
}

/** What parts of a node tell and ask others, by the part that does: some of those are made after it. */
export class Connections {
  readonly #options: ConnectionsOptions;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  accounts(): Pick<Intake, 'submit'> {
    return { submit: (...drafts) => this.#options.parts.get('intake').submit(...drafts) };
  }

  anchoring(): Pick<AnchoringOptions, 'naming' | 'onNamed' | 'onStatementNamed'> {
    const { parts, self, operatorId: account, federationLog } = this.#options;
    return {
      naming: {
        standingOf: (text) => standingOf(federationLog, self, text),
        mayName(message) {
          const heldUpTo = parts.get('federation').holdings.upTo;
          return mayNameOwn(federationLog.state, { self, account, heldUpTo }, message);
        },
        readToEnd: (signal) => parts.get('follower').readToEnd(signal),
        readSoon: () => parts.get('follower').readSoon(),
        noteReceipt: (point) => parts.get('follower').noteReceipt(point),
      },
      onNamed: (batch) => parts.get('sealer').noteNamed(batch),
      onStatementNamed: () => parts.get('namer').name(),
    };
  }

  transport(): Pick<TransportOptions, 'onFault' | 'onRefused' | 'receive'> {
    const { parts, refusals } = this.#options;
    return {
      receive: (_topic, data, from) => parts.get('federation').receive(data, from),
      onFault: (node, fault) => parts.get('federation').faults.note(nodeId(node), fault),
      onRefused: (node, reason) => refusals.note({ class: 'member', holder: { kind: 'member', id: node }, reason }),
    };
  }

  /** What the federation asks of others, and whom its own records and batches are told to. */
  federation({ statements }: Pick<AccountServices, 'statements'>, governance: GovernanceServices) {
    const { parts, federationLog, now, log } = this.#options;
    return {
      starts: {
        answer: (node) => parts.get('starts').answer(node),
        noteFromOrigin: (node, batches) => parts.get('starts').noteFromOrigin(node, batches),
      },
      isMember: (node) => federationLog.state.members[node] !== undefined,
      leaving: () => parts.get('leaving').members(),
      isReleased: () => parts.get('follower').removal?.isReleased === true,
      lastToCome: (node) => parts.get('rescue').lastToCome(node),
      onReplicated: () => parts.get('anchoring').noteChange(),
      onReplaced(node) {
        parts.get('rescue').forget(node);
        parts.get('foreignStatements').noteMoved(node);
      },
      others: toldLater(statements, () => parts.get('foreignStatements')),
      onTold: (from, point) => parts.get('follower').noteTold(from, point),
      onCheckpoint: (signed) => parts.get('follower').learnCheckpoint(signed),
      onHeld(node) {
        parts.get('vouching').poke(node);
        parts.get('foreignStatements').noteMoved(node);
      },
      besidesOwn: {
        group: (records) => rowsOfOwn(records, governance),
        onWritten() {
          governance.again.onWritten();
          parts.get('agents').forget();
        },
        batch: (batch) => [
          parts.get('anchoring').outboxEntry(batch, timestampOf(now())),
          startTable.put(['taken-back'], batch.envelope.batch),
        ],
      },
      onHalt(reason) {
        const [intake, sealer, follower] = [parts.get('intake'), parts.get('sealer'), parts.get('follower')];
        haltSigning({ intake, sealer, follower, start: parts.get('start'), log }, reason);
      },
    } satisfies Partial<FederationOptions>;
  }

  follower(names: OwnNames) {
    const { parts, self, operatorId, chains, log } = this.#options;
    return {
      vouched: () => parts.get('vouching').vouched(),
      sealed: () => ({ batch: chains.head(self).batch, unsealed: parts.get('sealer').waiting }),
      onReleased: () => parts.get('federation').noteReleased(),
      besides: (messages, state) => names.take(messages, state),
      onDecided(decided) {
        const listeners = {
          sealer: parts.get('sealer'),
          vouching: parts.get('vouching'),
          anchoring: parts.get('anchoring'),
          rescue: parts.get('rescue'),
          namer: parts.get('namer'),
          foreignStatements: parts.get('foreignStatements'),
        };
        const onRevoked = (node: NodeId): void => parts.get('federation').noteOutdone(node);
        noteDecided({ ...listeners, self, onRevoked, log }, decided);
      },
      onUndecided(messages) {
        const paid = messages.filter(({ payer }) => payer === operatorId);
        const texts = paid.map(({ message }) => Buffer.from(message).toString());
        if (texts.length > 0) parts.get('anchoring').noteUndecided(texts);
      },
      onShown: (messages) => parts.get('federation').noteShown(messages),
      onRivals(rivals) {
        const noted = parts.get('federation').noteRivals(rivals);
        noted.catch((error: unknown) => {
          log.error({ err: error }, 'what the ledger says of rivals could not be taken');
        });
      },
      onCounted: () => parts.get('confirmationWatch').noteCounted(),
      onContradicted: () => parts.get('federation').noteContradicted(),
    } satisfies Partial<LogFollowerOptions>;
  }

  vouching(): Pick<VouchingOptions, 'onRivalDecided' | 'onVouched'> {
    const { parts, self, log } = this.#options;
    return {
      onVouched: () => parts.get('follower').noteVouched(),
      onRivalDecided(node, batch) {
        log.error({ node, batch }, 'the ledger decided another batch than the one that is held');
        if (node === self) parts.get('federation').noteOwnOutdone();
        else parts.get('federation').noteOutdone(node);
      },
    };
  }

  sealer() {
    const { parts, self, federationLog, metrics, now, log } = this.#options;
    return {
      besides: (batch) => [parts.get('anchoring').outboxEntry(batch, timestampOf(now()))],
      resigning: {
        standing() {
          const { state } = federationLog;
          return {
            decided: knownNode(state, self)?.last?.batch ?? 0,
            isRevoked: (keyId) => isRevoked(state, self, keyId),
          };
        },
        withdraw: (from) => parts.get('anchoring').withdraw(from),
        resume: () => parts.get('anchoring').resume(),
        onSigned(batches) {
          const numbers = batches.map(({ envelope }) => envelope.batch);
          log.warn({ batches: numbers }, 'undecided batches by a revoked key are signed anew');
          parts.get('federation').noteSignedAnew(batches);
        },
      },
      onSealed: (batch) => onSealed(batch, metrics, parts.get('anchoring'), parts.get('federation'), log),
      onRefused(refusal) {
        const { code, seq } = refusal;
        log.fatal({ err: refusal, code, seq }, 'the own records make no batch: nothing more is signed');
        parts.get('intake').halt();
      },
    } satisfies Partial<SealerOptions>;
  }

  /** `clock`: what dates records. */
  intake(clock: () => number): Required<Pick<IntakeOptions, 'onCommitted' | 'timeOf'>> {
    const { parts, metrics } = this.#options;
    const isClockOff = (): boolean => {
      const follower = parts.get('follower');
      const { isOff } = follower.clocks;
      if (isOff) follower.askClocks();
      return isOff;
    };
    return {
      timeOf: (first, last) => recordTime({ now: clock, isClockOff, sealer: parts.get('sealer') }, first, last),
      onCommitted(group) {
        metrics.countGroup();
        parts.get('packs').noteRecords(group.records);
        parts.get('sealer').add(group);
      },
    };
  }
}
