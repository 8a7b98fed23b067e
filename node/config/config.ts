import { type Tier, TIERS } from '../../protocol/accounts/tier.ts';
import { MAX_BATCH_RECORDS } from '../../protocol/chain/envelope-rules.ts';
import { type EntityId, entityId, isEntityId, type NodeId, nodeId } from '../../protocol/ids.ts';
import { isMailAddress } from '../accounts/mail/mail-address.ts';
import { DEFAULT_MAIL_PORTS, MAIL_TLS, type MailConfig } from '../accounts/mail/mailer.ts';
import { type AnchoringConfig, VALID_SECONDS } from '../anchoring/ledger/config.ts';
import { AddressList, isAddressRange, isWideRange } from '../outbound/address-list.ts';
import type { Reach } from '../outbound/network-addresses.ts';
import { isLoopback } from '../outbound/redirects.ts';
import type { PaymentsConfig } from '../payments/facilitator/config.ts';
import type { ListUpdateConfig } from '../screening/lists/update/list-updates.ts';
import type { InferenceConfig } from '../services/inference/config.ts';
import type { Environment } from './environment.ts';
import { inferenceConfig } from './inference-config.ts';
import { listsConfig } from './lists-config.ts';
import { paymentsConfig } from './payments-config.ts';
import {
  ConfigError,
  hostAndPort,
  httpUrls,
  list,
  type ListenAddress,
  listenAddress,
  oneOf,
  parse,
  port,
  positive,
  required,
  wholeNumber,
} from './read-variable.ts';

/** Version of the node's software, as `/v1/health` tells it. */
export const VERSION = '0.1.0';

/** Everything an operator decides. Times in milliseconds. */
export interface NodeConfig {
  readonly id: NodeId;
  /** Folder of all that the node keeps: `store/`, `keys/`, `operator.sock`. */
  readonly home: string;
  /** File with the passphrase of the key files; null where they are not encrypted. */
  readonly keyPassphraseFile: string | null;
  /** File with the federation's signed rosters, from genesis on. */
  readonly rosterFile: string;
  readonly http: HttpConfig;
  /** Where the node shows its metrics, in the clear. */
  readonly metrics: ListenAddress;
  /** Multiaddrs that peers reach this node on. */
  readonly peerListen: readonly string[];
  /** The operator's word that this store is no copy, and the only one: a start waits for no other member. */
  readonly startsAlone: boolean;
  /** Threads that prepare groups of records; 0: none, they are prepared where requests are answered. */
  readonly intakeThreads: number;
  readonly batchIntervalMs: number;
  readonly batchMaxRecords: number;
  /** `federation`: peers may ask for a payload to check it, in memory; `region`: payloads never leave this node. */
  readonly payloadResidency: 'region' | 'federation';
  /** The ledger's network and topic come from the roster. */
  readonly ledger: Omit<AnchoringConfig, 'network' | 'topicId'>;
  /** Of the store's files; null where only the disk bounds them. In bytes. */
  readonly storageQuotaBytes: number | null;
  /** Of all files of packs of evidence. In bytes. */
  readonly packsQuotaBytes: number;
  /** Whether webhooks may lead to private networks, and in the clear. */
  readonly webhookReach: Reach;
  /** Null where this node sends no mail. */
  readonly mail: MailConfig | null;
  /** Whether anyone may sign up by mail. */
  readonly signUp: boolean;
  /** The highest tier that an account whose home is another node has here. */
  readonly foreignTier: Tier;
  /** Null where this node takes no payments: paid routes answer 503. */
  readonly payments: PaymentsConfig | null;
  /** Null where this node has no model: attested inference answers 503. */
  readonly inference: InferenceConfig | null;
  /** File that names the sources of the regulatory feed; null where none is asked. */
  readonly regwatchSources: string | null;
  /** Null where this node downloads no lists: its operator imports them. */
  readonly lists: ListUpdateConfig | null;
  readonly logLevel: string;
  /** Refuses development ledgers and chains. */
  readonly production: boolean;
}

export interface HttpConfig {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  /** The operator's proxies, which write `X-Forwarded-For`; without a certificate of the node's own they do the TLS. */
  readonly trustedProxies: AddressList;
}

const DEFAULT_HTTP_HOST = '127.0.0.1';
const DEFAULT_HTTP_PORT = 4100;
const DEFAULT_METRICS_LISTEN: ListenAddress = { host: '127.0.0.1', port: 4400 };
const DEFAULT_PEER_LISTEN = '/ip4/127.0.0.1/tcp/4200';
/** Off, as they are a loss where all cores are busy; what orders, signs and writes records is busy long before so many. */
const INTAKE_THREADS = { least: 0, most: 16, otherwise: 0 };
/** In seconds. A ledger message costs $0.0008, so a busy node at this pace spends about $5 a day. */
const DEFAULT_BATCH_INTERVAL_SECONDS = 15;
/** Whoever means milliseconds is told so. In seconds. */
const MAX_BATCH_INTERVAL_SECONDS = 3_600;
/** Of the pause between readings of the topic, and of the wait for a second source, for the same reason. In seconds. */
const MAX_READING_SECONDS = 3_600;
/** Members refuse a batch of more. */
const BATCH_RECORDS = { least: 1, most: MAX_BATCH_RECORDS, otherwise: MAX_BATCH_RECORDS };
/** 20 GiB: of a million usual records and their proofs a pack takes about two. */
const DEFAULT_PACKS_QUOTA_BYTES = 20 * 1024 ** 3;
const DEFAULT_FOREIGN_TIER: Tier = 'professional';
const TINYBARS_PER_HBAR = 100_000_000;
const MAIL_VARIABLES = ['SMTP_PORT', 'SMTP_TLS', 'SMTP_USER', 'SMTP_PASSWORD', 'SMTP_FROM'] as const;
const LOG_LEVELS = new Set(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']);

/** The configuration that the variables stand for. Throws `ConfigError` naming the variable at fault. */
export function configOf(environment: Environment): NodeConfig {
  const http = httpConfig(environment);
  return {
    id: parse(environment, 'NODE_ID', nodeId),
    home: required(environment, 'NODE_HOME'),
    keyPassphraseFile: environment.NODE_KEY_PASSPHRASE_FILE ?? null,
    rosterFile: required(environment, 'ROSTER'),
    http,
    metrics: listenAddress(environment, 'METRICS_LISTEN', DEFAULT_METRICS_LISTEN),
    peerListen: list(environment.PEER_LISTEN ?? DEFAULT_PEER_LISTEN),
    startsAlone: oneOf(environment, 'START_ALONE', ['0', '1'] as const, '0') === '1',
    intakeThreads: wholeNumber(environment, 'INTAKE_THREADS', INTAKE_THREADS),
    batchIntervalMs:
      positive(environment, 'BATCH_INTERVAL', DEFAULT_BATCH_INTERVAL_SECONDS, MAX_BATCH_INTERVAL_SECONDS) * 1000,
    batchMaxRecords: wholeNumber(environment, 'BATCH_MAX_RECORDS', BATCH_RECORDS),
    payloadResidency: oneOf(environment, 'PAYLOAD_RESIDENCY', ['region', 'federation'] as const, 'region'),
    ledger: ledgerConfig(environment),
    storageQuotaBytes:
      environment.STORAGE_QUOTA_BYTES === undefined ? null : positive(environment, 'STORAGE_QUOTA_BYTES', 1),
    packsQuotaBytes: positive(environment, 'PACKS_QUOTA_BYTES', DEFAULT_PACKS_QUOTA_BYTES),
    webhookReach: webhookReach(environment),
    mail: mailConfig(environment),
    signUp: oneOf(environment, 'SIGN_UP', ['on', 'off'] as const, 'on') === 'on',
    foreignTier: oneOf(environment, 'FOREIGN_TIER', TIERS, DEFAULT_FOREIGN_TIER),
    payments: paymentsConfig(environment),
    inference: inferenceConfig(environment),
    regwatchSources: environment.REGWATCH_SOURCES ?? null,
    lists: listsConfig(environment),
    logLevel: logLevel(environment.LOG_LEVEL ?? 'info'),
    production: environment.NODE_ENV === 'production',
  };
}

/** Of webhooks: a node that serves others reaches nothing of its own network for them. */
function webhookReach(environment: Environment): Reach {
  const reach = oneOf(environment, 'WEBHOOK_PRIVATE', ['0', '1'] as const, '0') === '1' ? 'private' : 'public';
  if (reach === 'private' && environment.NODE_ENV === 'production') {
    throw new ConfigError('WEBHOOK_PRIVATE=1 is for tests and closed networks: not where NODE_ENV is production');
  }
  return reach;
}

/** Without a certificate a node is reached from this machine only, unless it is told whose proxies do the TLS. */
function httpConfig(environment: Environment): HttpConfig {
  if (environment.BEHIND_PROXY !== undefined) {
    throw new ConfigError(
      'BEHIND_PROXY is not read any more: name your proxies in TRUSTED_PROXIES, such as 10.0.0.0/8',
    );
  }
  const host = environment.HTTP_HOST ?? DEFAULT_HTTP_HOST;
  const { TLS_CERT: certFile, TLS_KEY: keyFile } = environment;
  if ((certFile === undefined) !== (keyFile === undefined)) throw new ConfigError('TLS_CERT and TLS_KEY go together');
  const tls = certFile === undefined || keyFile === undefined ? null : { certFile, keyFile };
  const proxies = list(environment.TRUSTED_PROXIES ?? '');
  if (tls === null && proxies.length === 0 && !isLoopback(host)) {
    throw new ConfigError(`HTTP_HOST ${host} needs TLS_CERT and TLS_KEY, or TRUSTED_PROXIES`);
  }
  const trustedProxies = new AddressList(proxies.map(proxyRange));
  return { host, port: port(environment, 'HTTP_PORT', DEFAULT_HTTP_PORT), tls, trustedProxies };
}

/** Who trusts everyone believes what any stranger writes. */
function proxyRange(text: string): string {
  if (!isAddressRange(text)) throw new ConfigError(`TRUSTED_PROXIES: ${text} is no address and no CIDR range`);
  if (isWideRange(text)) {
    throw new ConfigError(`TRUSTED_PROXIES: ${text} is more than your proxies: at the widest /8 of IPv4, /16 of IPv6`);
  }
  return text;
}

function ledgerConfig(environment: Environment): NodeConfig['ledger'] {
  const { LEDGER_NODES, LEDGER_SUBMIT_KEY, LEDGER_READ_INTERVAL, LEDGER_VALID_SECONDS } = environment;
  const perHour = environment.LEDGER_MAX_PER_HOUR;
  const perDay = environment.LEDGER_MAX_PER_DAY;
  const hbarPerDay = environment.LEDGER_MAX_HBAR_PER_DAY;
  return {
    mirrors: httpUrls(environment, 'LEDGER_MIRRORS'),
    operatorId: parse(environment, 'LEDGER_OPERATOR_ID', entityId),
    operatorKey: required(environment, 'LEDGER_OPERATOR_KEY'),
    ...(LEDGER_NODES === undefined ? {} : { nodes: ledgerNodes(LEDGER_NODES) }),
    ...(LEDGER_SUBMIT_KEY === undefined ? {} : { submitKey: LEDGER_SUBMIT_KEY }),
    ...(LEDGER_READ_INTERVAL === undefined
      ? {}
      : { readIntervalMs: positive(environment, 'LEDGER_READ_INTERVAL', 1, MAX_READING_SECONDS) * 1000 }),
    ...(environment.LEDGER_SECOND_SOURCE === undefined
      ? {}
      : { secondSourceMs: positive(environment, 'LEDGER_SECOND_SOURCE', 1, MAX_READING_SECONDS) * 1000 }),
    ...(environment.LEDGER_QUERIES_PER_HOUR === undefined
      ? {}
      : { queriesPerHour: positive(environment, 'LEDGER_QUERIES_PER_HOUR', 1) }),
    ...(LEDGER_VALID_SECONDS === undefined
      ? {}
      : { validSeconds: wholeNumber(environment, 'LEDGER_VALID_SECONDS', VALID_SECONDS) }),
    spend: {
      ...(perHour === undefined ? {} : { transactionsPerHour: positive(environment, 'LEDGER_MAX_PER_HOUR', 1) }),
      ...(perDay === undefined ? {} : { transactionsPerDay: positive(environment, 'LEDGER_MAX_PER_DAY', 1) }),
      ...(hbarPerDay === undefined
        ? {}
        : { tinybarsPerDay: Math.floor(positive(environment, 'LEDGER_MAX_HBAR_PER_DAY', 1) * TINYBARS_PER_HBAR) }),
    },
  };
}

/** `127.0.0.1:4301=0.0.3,127.0.0.1:4302=0.0.4` */
function ledgerNodes(text: string): Record<string, EntityId> {
  const nodes: Record<string, EntityId> = {};
  for (const entry of list(text)) {
    const [address = '', account = '', ...more] = entry.split('=');
    if (hostAndPort(address) === null || !isEntityId(account) || more.length > 0) {
      throw new ConfigError('LEDGER_NODES is host:port=0.0.n, separated by commas');
    }
    nodes[address] = account;
  }
  return nodes;
}

/** Credentials and content leave this machine only under TLS. */
function mailConfig(environment: Environment): MailConfig | null {
  const { SMTP_HOST: host, SMTP_USER: user, SMTP_PASSWORD: password } = environment;
  if (host === undefined) {
    const stray = MAIL_VARIABLES.find((name) => environment[name] !== undefined);
    if (stray !== undefined) throw new ConfigError(`${stray} needs SMTP_HOST`);
    return null;
  }
  if ((user === undefined) !== (password === undefined)) {
    throw new ConfigError('SMTP_USER and SMTP_PASSWORD go together');
  }
  const tls = oneOf(environment, 'SMTP_TLS', MAIL_TLS, 'starttls');
  if (tls === 'none' && !isLoopback(host)) throw new ConfigError(`SMTP_TLS none is for this machine, not ${host}`);
  const from = required(environment, 'SMTP_FROM');
  if (!isMailAddress(from)) throw new ConfigError('SMTP_FROM is not a mail address');
  const login = user === undefined || password === undefined ? null : { user, password };
  return { host, port: port(environment, 'SMTP_PORT', DEFAULT_MAIL_PORTS[tls]), tls, login, from };
}

function logLevel(text: string): string {
  if (!LOG_LEVELS.has(text)) throw new ConfigError(`LOG_LEVEL is one of ${[...LOG_LEVELS].join(', ')}`);
  return text;
}
