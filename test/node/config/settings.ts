import { configOf, type NodeConfig } from '../../../node/config/config.ts';
import type { Environment } from '../../../node/config/environment.ts';
import { ConfigError } from '../../../node/config/read-variable.ts';

const NODE: Environment = {
  NODE_ID: 'eu',
  NODE_HOME: '/home',
  ROSTER: '/roster.json',
  LEDGER_OPERATOR_ID: '0.0.1001',
  LEDGER_OPERATOR_KEY: '11'.repeat(32),
};

/** The configuration of a node with these variables besides those that every node has. Throws `ConfigError`. */
export function configWith(variables: Environment): NodeConfig {
  return configOf({ ...NODE, ...variables });
}

/** What a set of variables is refused with. */
export function refusalOf(variables: Environment): string {
  try {
    configWith(variables);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return 'accepted';
}
