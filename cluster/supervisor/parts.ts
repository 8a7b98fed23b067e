import { join } from 'node:path';
import type { ChainWallets } from '../chain/chain-wallets.ts';
import type { Plan, PlannedNode } from '../plan.ts';
import type { ChildSpec } from './child.ts';
import type { Operators } from './ledger-accounts.ts';
import { nodeVariables, paymentVariables } from './node-variables.ts';

/** What every part of a cluster is started from. */
export interface PartSetting {
  /** Folder of the cluster. */
  readonly home: string;
  readonly plan: Plan;
  /** Variables for every child. */
  readonly inherited: Readonly<Record<string, string>>;
}

/** What a node needs besides its place in the plan. */
export interface NodeMeans {
  readonly rosterFile: string;
  readonly operators: Operators;
  readonly wallets: ChainWallets;
}

/**
 * What the C library of a node is told at its start, as `npm run node` does: to give back what was freed. It keeps a
 * pool of memory for each thread else, and large buffers among small ones.
 */
export const ALLOCATOR_VARIABLES = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072' } as const;

/**
 * What V8 is told at the start of a node, as `npm run node` does: each half of a heap's young generation grows to 16 MiB
 * and not to 64, which is 83 MiB less under load.
 */
export const HEAP_FLAGS = ['--max-semi-space-size=16'] as const;

const SCRIPTS = join(import.meta.dirname, '../..');

export function ledgerPart({ home, plan, inherited }: PartSetting, accountsFile: string): ChildSpec {
  const directory = join(home, 'ledger');
  return {
    name: 'ledger',
    script: join(SCRIPTS, 'cluster/ledger/main.ts'),
    args: [
      '--home',
      directory,
      '--accounts',
      accountsFile,
      '--nodes',
      plan.ledgerPorts.join(','),
      '--mirror-grpc',
      String(plan.mirrorGrpcPort),
      '--mirror',
      String(plan.mirrorPort),
    ],
    env: inherited,
    logFile: join(directory, 'ledger.log'),
  };
}

export function chainPart({ home, plan, inherited }: PartSetting): ChildSpec {
  const directory = chainDirectory(home);
  return {
    name: 'chain',
    script: join(SCRIPTS, 'cluster/chain/main.ts'),
    args: ['--directory', directory, '--port', String(plan.chainPort)],
    env: inherited,
    logFile: join(directory, 'chain.log'),
  };
}

export function mailPart({ home, plan, inherited }: PartSetting): ChildSpec {
  const directory = mailDirectory(home);
  return {
    name: 'mail',
    script: join(SCRIPTS, 'cluster/mail/main.ts'),
    args: ['--directory', directory, '--port', String(plan.smtpPort)],
    env: inherited,
    logFile: join(directory, 'mail.log'),
  };
}

export function nodePart({ home, plan, inherited }: PartSetting, node: PlannedNode, means: NodeMeans): ChildSpec {
  const { rosterFile, operators, wallets } = means;
  const nodeHome = join(home, node.id);
  return {
    name: node.id,
    flags: HEAP_FLAGS,
    script: join(SCRIPTS, 'node/main.ts'),
    env: {
      ...inherited,
      ...ALLOCATOR_VARIABLES,
      ...nodeVariables(node, plan, nodeHome, rosterFile, operators[node.operatorId] ?? ''),
      ...paymentVariables(node, plan, wallets),
    },
    logFile: join(nodeHome, 'node.log'),
  };
}

export function chainDirectory(home: string): string {
  return join(home, 'chain');
}

export function mailDirectory(home: string): string {
  return join(home, 'mail');
}
