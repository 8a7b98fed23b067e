import {
  KEY_ENDS_SOON_DAYS,
  OVERVIEW_BATCHES,
  OVERVIEW_DAYS,
  OVERVIEW_EXAMPLE,
  type OverviewAnswer,
  OverviewAnswerShape,
} from '../../../protocol/api/overview.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { keyState } from '../../accounts/api-key.ts';
import type { ApiKeys } from '../../accounts/api-keys.ts';
import { type Caller, covers, reaches } from '../../accounts/caller.ts';
import { isEnding } from '../../accounts/ending-keys.ts';
import type { DailyUsage } from '../../accounts/limits/daily-usage.ts';
import type { SignIns } from '../../accounts/sign-ins/sign-ins.ts';
import type { Incidents } from '../../governance/incidents.ts';
import { anchoringTimes } from '../../log/anchoring-times.ts';
import type { FederationLog } from '../../log/federation-log.ts';
import type { Packs } from '../../packs/packs.ts';
import type { Reads } from '../../store/store.ts';
import type { KeyRoute } from '../route.ts';

/** Incidents of each state that are counted. */
const MAX_COUNTED = 1_000;
const PAGE = 200;
const DAY_MS = 86_400_000;

export interface OverviewServices {
  readonly node: NodeId;
  readonly usage: Pick<DailyUsage, 'days' | 'figures'>;
  readonly incidents: Pick<Incidents, 'page'>;
  readonly keys: Pick<ApiKeys, 'list'>;
  readonly packs: Pick<Packs, 'list'>;
  readonly signIns: Pick<SignIns, 'list'>;
  readonly store: Reads;
  readonly federationLog: Pick<FederationLog, 'batch'>;
  /** Of the node's health. */
  readonly ledger: () => string;
  readonly now: () => number;
}

/** `GET /v1/overview` (api-rules §10 item 7): how an account stands at this node, in one answer. */
export function overviewRoute(services: OverviewServices): KeyRoute {
  const { node, usage, store, federationLog, ledger, now } = services;
  return {
    method: 'GET',
    path: '/v1/overview',
    access: 'key',
    scope: 'proof:read',
    documentation: {
      summary: 'How the account stands at this node',
      description:
        `Records by days of UTC, as \`GET /v1/usage\` counts them; incidents whose clocks run, up to ${MAX_COUNTED} of each ` +
        'state; keys, packs of evidence and sign-ins; how long the ledger took to name the last batches of the node. ' +
        '`endingSoon` counts neither keys of sign-ins by mail nor keys that have another in their place.',
      answer: { shape: OverviewAnswerShape, example: OVERVIEW_EXAMPLE },
      problems: [],
    },
    async answer(_call, caller) {
      const { account } = caller;
      const [figures, days] = [await usage.figures(account), await usage.days(account.id, OVERVIEW_DAYS)];
      const body: OverviewAnswer = {
        success: true,
        node,
        asOf: timestampOf(now()),
        records: { today: figures.recordsToday, thisMonth: figures.recordsThisMonth, days: [...days] },
        ledger: ledger(),
        anchoring: { batches: [...(await anchoringTimes(store, federationLog, node, OVERVIEW_BATCHES))] },
        incidents: await incidentsOf(services, caller),
        keys: await keysOf(services, account.id),
        packs: await packsOf(services, account.id),
        signIns: (await services.signIns.list(account.id)).length,
      };
      return { body };
    },
  };
}

async function incidentsOf(services: OverviewServices, caller: Caller): Promise<OverviewAnswer['incidents']> {
  const [open, dueSoon, overdue] = [
    await countOf(services, caller, 'open'),
    await countOf(services, caller, 'due-soon'),
    await countOf(services, caller, 'overdue'),
  ];
  const truncated = [open, dueSoon, overdue].some(({ isWhole }) => !isWhole);
  return { open: open.count, dueSoon: dueSoon.count, overdue: overdue.count, truncated };
}

async function countOf(
  { incidents, now }: OverviewServices,
  { account, key }: Caller,
  state: 'due-soon' | 'open' | 'overdue',
): Promise<{ readonly count: number; readonly isWhole: boolean }> {
  let count = 0;
  let after: string | undefined;
  for (let pages = 0; pages < MAX_COUNTED / PAGE; pages++) {
    const { incidents: found, next } = await incidents.page(account.id, {
      state,
      accepts: ({ sourceId, submittedAt }) => reaches(key, sourceId) && covers(key, submittedAt),
      after,
      limit: PAGE,
      now: now(),
    });
    count += found.length;
    if (next === undefined) return { count, isWhole: true };
    after = next;
  }
  return { count, isWhole: false };
}

async function keysOf({ keys, now }: OverviewServices, account: string): Promise<OverviewAnswer['keys']> {
  const active = (await keys.list(account)).filter((key) => keyState(key, now()) === 'active');
  const endingSoon = active.filter((key) => isEnding(key, now(), KEY_ENDS_SOON_DAYS * DAY_MS));
  return { active: active.length, endingSoon: endingSoon.length };
}

async function packsOf({ packs }: OverviewServices, account: string): Promise<OverviewAnswer['packs']> {
  const rows = await packs.list(account);
  const count = (...states: readonly string[]): number => rows.filter(({ state }) => states.includes(state)).length;
  return { ready: count('ready'), making: count('queued', 'building'), failed: count('failed') };
}
