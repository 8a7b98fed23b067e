import type { Checks, Problem } from '../../protocol/verdict/problem.ts';
import type { Word } from '../../protocol/verdict/word.ts';
import type { ConsolePage } from './console-page.ts';

/** Where a page stands below the public root, as the way back up: `./`, `../`. Links of a page begin with it. */
export type Root = './' | '../' | '../../' | '../../../';

export interface MemberLine {
  readonly node: string;
  readonly region: string;
  readonly baseUrl: string;
  readonly connected: boolean;
  readonly trusted: boolean;
  readonly records: number;
  /** Last batch of its chain that this node holds; 0 where there is none. */
  readonly batch: number;
}

export interface FrontPage {
  readonly name: 'front';
  readonly node: string;
  readonly region: string;
  readonly version: string;
  readonly federation: string;
  readonly fingerprint: string;
  /** The same, to be read out. */
  readonly fingerprintWords: string;
  readonly quorum: number;
  readonly ledger: string;
  readonly members: readonly MemberLine[];
  readonly healthy: boolean;
  /** In words, what of the node's health is not well. */
  readonly troubles: readonly string[];
}

/** What this node reports of a record. Nothing of it was worked out by the visitor's machine. */
export interface RecordReport {
  readonly kind: string;
  readonly node: string;
  readonly submittedAt: string | null;
  readonly word: Word | null;
  readonly checks: Checks;
  readonly problems: readonly Problem[];
  readonly ledger: {
    readonly network: string;
    readonly topicId: string;
    readonly sequence: string;
    readonly at: string;
  } | null;
  readonly witnesses: readonly string[];
  readonly members: number | null;
  readonly payloadState: string | null;
  /** Records that are linked to it, by what they are. */
  readonly links: { readonly overrides: number; readonly incidents: number; readonly session: boolean };
}

export interface RecordPage {
  readonly name: 'record';
  readonly id: string;
  readonly fingerprint: string;
  readonly federation: string;
  readonly url: string;
  /** Null where no record of this id is known. */
  readonly report: RecordReport | null;
}

export interface CheckPage {
  readonly name: 'check';
  readonly fingerprint: string;
}

export interface ProblemPage {
  readonly name: 'problem';
  readonly code: string;
  readonly title: string;
  readonly status: number;
  readonly meaning: string;
}

export interface LogPage {
  readonly name: 'log';
  readonly node: string;
  readonly federation: string;
  readonly fingerprint: string;
  readonly ledger: string;
  readonly topicId: string;
  readonly size: number;
  readonly rootHash: string | null;
  readonly lastDecisionAt: string | null;
  /** In seconds; null where nothing was decided yet. */
  readonly lastDecisionAgeSeconds: number | null;
  readonly isLate: boolean;
  /** The newest first. */
  readonly decisions: readonly { readonly index: number; readonly what: string; readonly at: string }[];
  readonly members: readonly MemberLine[];
  readonly checkpoints: readonly { readonly node: string; readonly size: number; readonly current: boolean }[];
  readonly misdeeds: readonly { readonly node: string; readonly batch: number; readonly stands: boolean }[];
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly access: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly description: string;
  }[];
  readonly requestExample: string | null;
  readonly answerExample: string | null;
  readonly curl: string;
  readonly typescript: string;
  readonly problems: readonly string[];
}

export interface DocsPage {
  readonly name: 'docs';
  readonly version: string;
  readonly groups: readonly { readonly title: string; readonly operations: readonly Operation[] }[];
}

export interface AgentPage {
  readonly name: 'agent';
  readonly agentId: string;
  readonly did: string | null;
  readonly node: string;
  readonly status: string;
  readonly keys: readonly { readonly keyId: string; readonly status: string; readonly since: string }[];
  readonly price: string;
}

export interface WalletPage {
  readonly name: 'wallet';
  readonly address: string;
  readonly price: string;
  readonly counterpartyPrice: string;
}

export interface MissingPage {
  readonly name: 'missing';
  readonly what: string;
}

/** A page with all that it shows, before it is drawn. */
export type Page =
  | AgentPage
  | CheckPage
  | ConsolePage
  | DocsPage
  | FrontPage
  | LogPage
  | MissingPage
  | ProblemPage
  | RecordPage
  | WalletPage;

/** Files that pages load, by what they are, under the names that their contents give them. */
export interface Assets {
  readonly style: string;
  readonly scripts: Readonly<Partial<Record<Page['name'], string>>>;
}

export type Draw = (page: Page, root: Root, assets: Assets) => string;
