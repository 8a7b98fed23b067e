import { resolve } from 'node:path';

const DEFAULT_HOME = '.meridian';

export interface ClusterEnvironment {
  /** Folder of everything that the cluster keeps. */
  readonly home: string;
  readonly production: boolean;
  /** What every child gets besides its own variables. */
  readonly inherited: Readonly<Record<string, string>>;
}

/** The variables that the local cluster reads. The only file of the cluster's supervisor that sees `process.env`. */
export function readClusterEnvironment(): ClusterEnvironment {
  const { MERIDIAN_HOME, NODE_ENV, PATH, LOG_LEVEL } = process.env;
  return {
    home: resolve(MERIDIAN_HOME || DEFAULT_HOME),
    production: NODE_ENV === 'production',
    inherited: { ...(PATH ? { PATH } : {}), ...(LOG_LEVEL ? { LOG_LEVEL } : {}) },
  };
}
