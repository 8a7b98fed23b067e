import type { Logger } from 'pino';
import type { NodeId } from '../../protocol/ids.ts';
import type { Intake } from '../intake/intake.ts';
import type { FederationLog } from '../log/federation-log.ts';
import type { Store } from '../store/store.ts';
import type { AccountEvent } from './account-event.ts';
import { Accounts } from './accounts.ts';
import { AuditLog } from './audit-log/audit-log.ts';
import type { ForeignAccounts } from './elsewhere/foreign-accounts.ts';
import { AddressLimits, FreeLimits, UncountedLimits, type UncountedLimitsOptions } from './limits/address-limits.ts';
import { DailyUsage } from './limits/daily-usage.ts';
import { RateLimits } from './limits/rate-limits.ts';
import { RequestLimits } from './limits/request-limits.ts';
import { LostKeys } from './lost-key/lost-keys.ts';
import { People } from './people/people.ts';
import { SecondFactors } from './second-factors/second-factors.ts';
import { Shares, type SharesOptions } from './sharing/shares.ts';
import { createMailer, type MailConfig, type Mailer } from './mail/mailer.ts';
import { SignIns } from './sign-ins/sign-ins.ts';
import { SignUpLimits } from './sign-up/sign-up-limits.ts';
import { SignUp } from './sign-up/sign-up.ts';
import { StatementPublisher, type StatementPublisherOptions } from './statements/statement-publisher.ts';

/** Who may call, how often, and what is kept of it. */
export interface AccountServices extends AsyncDisposable {
  readonly accounts: Accounts;
  /** Versions of the statements of the accounts that live here. */
  readonly statements: StatementPublisher;
  readonly signUp: SignUp;
  readonly lostKeys: LostKeys;
  /** Who signs in at the console by mail. */
  readonly people: People;
  /** What people show beside a mailed link. */
  readonly secondFactors: SecondFactors;
  /** Links to records for those who have no account. */
  readonly shares: Shares;
  /** Who is signed in at the console. */
  readonly signIns: SignIns;
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

interface AccountServicesOptions
  extends
    Pick<UncountedLimitsOptions, 'uncountedPerSecond'>,
    Pick<StatementPublisherOptions, 'random'>,
    Pick<SharesOptions, 'copiedAt' | 'payloadKey'> {
  readonly store: Store;
  readonly node: NodeId;
  readonly federationLog: Pick<FederationLog, 'state'>;
  /** Accounts whose home is another node. */
  readonly foreign: ForeignAccounts;
  /** Makes a record. */
  readonly submit: Intake['submit'];
  readonly now: () => number;
  /** Whether the clock is known to be right. */
  readonly isClockRight: () => boolean;
  readonly log: Logger;
  readonly config: { readonly mail: MailConfig | null; readonly signUp: boolean };
  /** Address of the key-authenticated API. */
  readonly nodeUrl: () => string;
  /** The node's public address. */
  readonly baseUrl: () => string;
}

/** Opens the services of accounts. A change of an account and its line in the audit log are one write. */
export async function openAccountServices(options: AccountServicesOptions): Promise<AccountServices> {
  const { federationLog, submit } = options;
  await using opening = new AsyncDisposableStack();
  const auditLog = opening.use(await AuditLog.open(options));
  const record: SharesOptions['record'] = (events, operations) =>
    auditLog.recordWith(events[0].account, events.map(factsOf), operations);
  const accounts = opening.use(
    await Accounts.open({
      ...options,
      isMember: (node) => federationLog.state.members[node] !== undefined,
      record,
    }),
  );
  const statements = opening.use(
    new StatementPublisher({ ...options, accountStore: accounts.accountStore, record: submit }),
  );
  const { store, config, nodeUrl, uncountedPerSecond } = options;
  const mailer = config.mail === null ? null : opening.use(createMailer(config.mail));
  const limits = new SignUpLimits();
  const { keys, accountStore } = accounts;
  const signUp = new SignUp({ store, accountStore, mailer, limits, isOpen: config.signUp, nodeUrl });
  const people = new People({ ...options, accountStore, mailer, limits, record });
  const secondFactors = await SecondFactors.open({ ...options, accountStore, people, mailer });
  const lostKeys = opening.use(new LostKeys({ ...options, accountStore, keys, mailer, limits, people, secondFactors }));
  lostKeys.start();
  const shares = opening.use(await Shares.open({ ...options, accountStore, record }));
  shares.start();
  const signIns = opening.use(await SignIns.open({ ...options, accountStore, keys, record }));
  signIns.start();
  const rates = new RateLimits();
  const usage = await DailyUsage.open(options);
  const terms = uncountedPerSecond === undefined ? {} : { uncountedPerSecond };
  const opened = opening.move();
  return {
    accounts,
    statements,
    signUp,
    lostKeys,
    people,
    secondFactors,
    shares,
    signIns,
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
