import type { NodeId } from '../../protocol/ids.ts';
import { KEY_ENDS_SOON_DAYS } from '../../protocol/api/overview.ts';
import { timestampOf } from '../../protocol/time.ts';
import type { ApiKey } from '../accounts/api-key.ts';
import { endingKeys } from '../accounts/ending-keys.ts';
import type { StorageGuard } from '../accounts/limits/storage-guard.ts';
import type { Anchoring } from '../anchoring/anchoring.ts';
import { VERSION } from '../config/config.ts';
import type { OperatorRoute } from '../http/route.ts';
import { federationAnswer, type FederationSources } from '../http/routes/federation.ts';
import type { Intake } from '../intake/intake.ts';
import type { Sealer } from '../intake/sealing/sealer.ts';
import { type AnchoringTime, anchoringTimes } from '../log/anchoring-times.ts';
import type { FederationLog } from '../log/federation-log.ts';
import type { SettledDay, SettlementLedger } from '../payments/settlement-ledger.ts';
import type { Reads } from '../store/store.ts';
import { operatorRoute } from './operator-listener.ts';

export const OVERVIEW_PATH = '/overview';
/** Batches whose times are told. */
const BATCHES = 60;
/** A key that ends within so long is told of, up to so many of them. In milliseconds. */
const ENDS_SOON_MS = KEY_ENDS_SOON_DAYS * 86_400_000;
const MAX_KEYS_TOLD = 200;
/** Of USDC: six decimals. */
const ATOMIC_PER_USD = 1_000_000;

export interface OverviewRouteServices {
  readonly federation: FederationSources;
  readonly anchoring: Pick<Anchoring, 'state'>;
  readonly intake: Pick<Intake, 'queued' | 'recorded'>;
  readonly sealer: Pick<Sealer, 'waiting'>;
  readonly storageGuard: Pick<StorageGuard, 'state'>;
  readonly store: Reads;
  readonly node: NodeId;
  readonly federationLog: Pick<FederationLog, 'batch'>;
  readonly settlements: Pick<SettlementLedger, 'head' | 'recentDays'>;
  /** Whether it takes payments. */
  readonly isSelling: boolean;
  readonly now: () => number;
}

/** `GET /overview`: how the node stands, for its operator's console. */
export function operatorOverviewRoute(services: OverviewRouteServices): OperatorRoute {
  const { federation, anchoring, intake, sealer, storageGuard, store, node, federationLog } = services;
  const { settlements, isSelling, now } = services;
  return operatorRoute('GET', OVERVIEW_PATH, async () => {
    const { ledger, spend, inFlight, backlog, lagSeconds, delayed } = await anchoring.state();
    const { level, usedBytes, quotaBytes, freeBytes } = storageGuard.state;
    const ending = await endingKeys(store, now(), ENDS_SOON_MS);
    return {
      version: VERSION,
      at: timestampOf(now()),
      records: { made: intake.recorded, queued: intake.queued, unsealed: sealer.waiting },
      anchoring: {
        reachable: ledger.reachable,
        lastAnswerAt: ledger.lastAnswerAt === null ? null : timestampOf(ledger.lastAnswerAt),
        refusal: ledger.refusal,
        inFlight,
        backlog,
        lagSeconds: Math.round(lagSeconds),
        delayed,
        batches: (await anchoringTimes(store, federationLog, node, BATCHES)).map(plainTime),
        spend: {
          hourTransactions: spend.hour.transactions,
          dayTransactions: spend.day.transactions,
          dayTinybars: spend.day.tinybars,
        },
      },
      storage: { level, usedBytes, quotaBytes, freeBytes },
      payments: {
        isSelling,
        settled: settlements.head.entries,
        days: (await settlements.recentDays()).map(plainDay),
      },
      keys: {
        endingSoon: ending.keys.slice(0, MAX_KEYS_TOLD).map(plainKey),
        truncated: !ending.isWhole || ending.keys.length > MAX_KEYS_TOLD,
      },
      federation: federationAnswer(federation),
    };
  });
}

function plainKey({ account, id, name, expiresAt }: ApiKey) {
  return { account, keyId: id, name, expiresAt };
}

function plainTime({ batch, sealedAt, seconds }: AnchoringTime) {
  return { batch, sealedAt, seconds };
}

function plainDay({ day, settled, atomicAmount }: SettledDay) {
  return { day, settled, usd: Number(atomicAmount) / ATOMIC_PER_USD };
}
