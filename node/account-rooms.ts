import type { Logger } from 'pino';
import type { NodeId } from '../protocol/ids.ts';
import type { AccountEvent } from './accounts/account-event.ts';
import { Accounts } from './accounts/accounts.ts';
import { LostKeys } from './accounts/lost-key/lost-keys.ts';
import { SignUp } from './accounts/sign-up/sign-up.ts';
import { SignUpLimits } from './accounts/sign-up/sign-up-limits.ts';
import { AuditLog } from './audit-log/audit-log.ts';
import type { NodeConfig } from './config/config.ts';
import { AddressLimits } from './limits/address-limits.ts';
import { FreeLimits } from './limits/free-limits.ts';
import { DailyUsage } from './limits/daily-usage.ts';
import { RateLimits } from './limits/rate-limits.ts';
import { RequestLimits } from './limits/request-limits.ts';
import { UncountedLimits, type UncountedLimitsOptions } from './limits/uncounted-limits.ts';
import { createMailer, type Mailer } from './mail/mailer.ts';
import type { Store } from './store/store.ts';

/** Who may call, how often, and what is kept of it. */
export interface AccountRooms extends AsyncDisposable {
  readonly accounts: Accounts;
  readonly signUp: SignUp;
  readonly lostKeys: LostKeys;
  /** Null where this node sends no mail. */
  readonly mailer: Mailer | null;
  readonly auditLog: AuditLog;
  readonly rates: RateLimits;
  readonly usage: DailyUsage;
  readonly limits: RequestLimits;
  readonly addresses: AddressLimits;
  readonly freeLimits: FreeLimits;
  readonly uncounted: UncountedLimits;
}

interface AccountRoomsOptions extends Pick<UncountedLimitsOptions, 'uncountedPerSecond'> {
  readonly store: Store;
  readonly node: NodeId;
  readonly now: () => number;
  readonly log: Logger;
  readonly config: Pick<NodeConfig, 'mail' | 'signUp'>;
  /** Address of the key-authenticated API. */
  readonly nodeUrl: () => string;
}

/** Opens the rooms around accounts. A change of an account and its line in the audit log are one write. */
export async function openAccountRooms(options: AccountRoomsOptions): Promise<AccountRooms> {
  await using opening = new AsyncDisposableStack();
  const auditLog = opening.use(await AuditLog.open(options));
  const accounts = opening.use(
    await Accounts.open({
      ...options,
      record: (events, operations) => auditLog.recordWith(events[0].account, events.map(factsOf), operations),
    }),
  );
  const { store, config, nodeUrl, uncountedPerSecond } = options;
  const mailer = config.mail === null ? null : opening.use(createMailer(config.mail));
  const limits = new SignUpLimits();
  const { keys, book } = accounts;
  const signUp = new SignUp({ store, book, mailer, limits, isOpen: config.signUp, nodeUrl });
  const lostKeys = opening.use(new LostKeys({ ...options, book, keys, mailer, limits }));
  lostKeys.start();
  const rates = new RateLimits();
  const usage = await DailyUsage.open(options);
  const terms = uncountedPerSecond === undefined ? {} : { uncountedPerSecond };
  const opened = opening.move();
  return {
    accounts,
    signUp,
    lostKeys,
    mailer,
    auditLog,
    rates,
    usage,
    limits: new RequestLimits(rates, usage),
    addresses: new AddressLimits(),
    freeLimits: new FreeLimits(),
    uncounted: new UncountedLimits(terms),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

function factsOf({ action, by, subject }: AccountEvent) {
  return { action, address: null, by, requestId: null, status: null, subject };
}
