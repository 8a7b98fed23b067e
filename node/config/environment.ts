/** The variables that a node reads. This is the only file of a node that sees `process.env`. */
const VARIABLES = [
  'NODE_ENV',
  'NODE_ID',
  'NODE_HOME',
  'NODE_KEY_PASSPHRASE_FILE',
  'ROSTER',
  'HTTP_HOST',
  'HTTP_PORT',
  'METRICS_LISTEN',
  'TLS_CERT',
  'TLS_KEY',
  'TRUSTED_PROXIES',
  'BEHIND_PROXY',
  'PEER_LISTEN',
  'START_ALONE',
  'INTAKE_THREADS',
  'BATCH_INTERVAL',
  'BATCH_MAX_RECORDS',
  'PAYLOAD_RESIDENCY',
  'STORAGE_QUOTA_BYTES',
  'PACKS_QUOTA_BYTES',
  'WEBHOOK_PRIVATE',
  'LEDGER_NODES',
  'LEDGER_MIRRORS',
  'LEDGER_OPERATOR_ID',
  'LEDGER_OPERATOR_KEY',
  'LEDGER_SUBMIT_KEY',
  'LEDGER_READ_INTERVAL',
  'LEDGER_SECOND_SOURCE',
  'LEDGER_QUERIES_PER_HOUR',
  'LEDGER_VALID_SECONDS',
  'LEDGER_MAX_PER_HOUR',
  'LEDGER_MAX_PER_DAY',
  'LEDGER_MAX_HBAR_PER_DAY',
  'SMTP_HOST',
  'SMTP_PORT',
  'SMTP_TLS',
  'SMTP_USER',
  'SMTP_PASSWORD',
  'SMTP_FROM',
  'SIGN_UP',
  'FOREIGN_TIER',
  'RPC_URL',
  'PAY_TO',
  'FACILITATOR_KEY',
  'FACILITATOR_URL',
  'FACILITATOR_TOKEN',
  'FACILITATOR_HEADERS',
  'INFERENCE_URL',
  'INFERENCE_MODEL',
  'INFERENCE_VERSION',
  'INFERENCE_TOKEN',
  'INFERENCE_HEADERS',
  'INFERENCE_TIME_LIMIT',
  'MODEL_PATH',
  'MODEL_LABEL',
  'MODEL_CONTEXT',
  'MODEL_THREADS',
  'REGWATCH_SOURCES',
  'LISTS_SOURCES',
  'LISTS_UPDATE_HOURS',
  'LOG_LEVEL',
] as const;

export type Variable = (typeof VARIABLES)[number];
export type Environment = Readonly<Partial<Record<Variable, string>>>;

/** The node's variables as they are set; an empty one counts as not set. */
export function readEnvironment(): Environment {
  const environment: Partial<Record<Variable, string>> = {};
  for (const name of VARIABLES) {
    const value = process.env[name];
    if (value !== undefined && value !== '') environment[name] = value;
  }
  return environment;
}
