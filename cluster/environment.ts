import { join, resolve } from 'node:path';

const DEFAULT_HOME = '.meridian';
/**
 * Folder in the home where one process leaves the sources that it compiled for the next, which starts twice as fast.
 */
const COMPILED = 'compiled';

export interface ClusterEnvironment {
  /** Folder of everything that the cluster keeps. */
  readonly home: string;
  readonly production: boolean;
  /** What every child gets besides its own variables. */
  readonly inherited: Readonly<Record<string, string>>;
}

/** The variables that the local cluster reads. The only file of the cluster's supervisor that sees `process.env`. */
export function readClusterEnvironment(): ClusterEnvironment {
  const { MERIDIAN_HOME, NODE_ENV, NODE_COMPILE_CACHE, PATH, LOG_LEVEL, WEBHOOK_PRIVATE } = process.env;
  const home = resolve(MERIDIAN_HOME || DEFAULT_HOME);
  return {
    home,
    production: NODE_ENV === 'production',
    inherited: {
      NODE_COMPILE_CACHE: NODE_COMPILE_CACHE || join(home, COMPILED),
      ...(PATH ? { PATH } : {}),
      ...(LOG_LEVEL ? { LOG_LEVEL } : {}),
      ...(WEBHOOK_PRIVATE ? { WEBHOOK_PRIVATE } : {}),
    },
  };
}
