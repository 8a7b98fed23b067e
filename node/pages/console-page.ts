/** Screens that the console's own navigation names, by the last part of their path. */
export const SCREENS = [
  ['', 'Overview'],
  ['records', 'Records'],
  ['systems', 'AI systems'],
  ['sessions', 'Sessions'],
  ['oversight', 'Oversight'],
  ['incidents', 'Incidents'],
  ['assessments', 'Assessments'],
  ['retention', 'Retention'],
  ['frameworks', 'Frameworks'],
  ['packs', 'Evidence packs'],
  ['agents', 'Agents'],
  ['keys', 'Keys'],
  ['webhooks', 'Webhooks'],
  ['audit-log', 'Audit log'],
  ['usage', 'Usage'],
  ['people', 'People'],
] as const;
export type ScreenName = (typeof SCREENS)[number][0];

/** How well something is: told apart by a mark and by words, never by colour alone. */
export type Tone = 'bad' | 'good' | 'none' | 'wait';

/** One value on a screen. Addresses (`href`) stand below the public root. */
export type Cell =
  | { readonly kind: 'code'; readonly text: string; readonly href?: string }
  | { readonly kind: 'figure'; readonly field: string; readonly value: number }
  | { readonly kind: 'link'; readonly text: string; readonly href: string }
  | { readonly kind: 'list'; readonly cells: readonly Cell[] }
  | { readonly kind: 'moment'; readonly at: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'state'; readonly tone: Tone; readonly text: string }
  | { readonly kind: 'text'; readonly text: string };

export interface Column {
  /** The API's name of it. */
  readonly field: string;
  readonly title: string;
}

/** A list of the API, in rows. */
export interface TableSection {
  readonly kind: 'table';
  readonly title: string;
  readonly about?: string;
  /** The call of the API whose answer it is, null where it is none, and the member of the answer that has the rows. */
  readonly json: string | null;
  readonly member: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
  /** What is said where there is no row, and the command that makes one. */
  readonly empty: { readonly text: string; readonly curl: string | null };
  /** The next page of it. */
  readonly next: string | null;
}

/** Members of an answer of the API, by name. */
export interface FactsSection {
  readonly kind: 'facts';
  readonly title: string;
  readonly json: string | null;
  readonly facts: readonly { readonly title: string; readonly cell: Cell }[];
}

export type FieldKind = 'area' | 'choice' | 'flag' | 'number' | 'secret' | 'text' | 'time';

export interface FormField {
  readonly name: string;
  readonly title: string;
  readonly kind: FieldKind;
  readonly choices: readonly string[];
  readonly isRequired: boolean;
  readonly value: string;
  readonly help: string | null;
  readonly error: string | null;
  readonly maxLength: number | null;
}

export interface FormSection {
  readonly kind: 'form';
  readonly title: string;
  readonly about: string | null;
  /** What cannot be taken back once it is sent. */
  readonly danger: string | null;
  readonly method: 'get' | 'post';
  readonly action: string;
  readonly fields: readonly FormField[];
  readonly hidden: readonly (readonly [name: string, value: string])[];
  readonly submit: string;
  /** Whether the browser keeps what is typed for as long as its tab is open. */
  readonly isDrafted: boolean;
  /** The browser answers with a passkey, in a field of this name, before it is sent. */
  readonly passkey?: PasskeyAsked;
}

/** What a browser is asked for: to make a passkey or to use one, by options in the JSON of WebAuthn 3 §5.1.8. */
export interface PasskeyAsked {
  readonly ceremony: 'create' | 'get';
  readonly options: string;
}

export interface TextSection {
  readonly kind: 'text';
  readonly title: string | null;
  readonly tone: Tone;
  readonly paragraphs: readonly string[];
  /** A text to be copied, as a command or a key that is shown once. */
  readonly copy: string | null;
}

/** A text as a QR code. */
export interface QrSection {
  readonly kind: 'qr';
  readonly title: string;
  readonly about: string;
  readonly text: string;
  /** The same for whoever types it. */
  readonly copy: string;
}

export interface LinksSection {
  readonly kind: 'links';
  readonly title: string;
  readonly links: readonly { readonly text: string; readonly href: string }[];
}

/** Bars of a series, drawn on the server, and their values as a table. */
export interface ChartSection {
  readonly kind: 'chart';
  readonly title: string;
  /** As of a table. */
  readonly json: string | null;
  /** The member of the answer that has the points, and the field of each that is drawn. */
  readonly member: string;
  readonly field: string;
  /** What a point stands for, and what its value counts. */
  readonly axis: string;
  readonly unit: string;
  readonly points: readonly { readonly label: string; readonly value: number }[];
}

/** What of a row of numbered things is not there, drawn on the server, and as a table. */
export interface StripSection {
  readonly kind: 'strip';
  readonly title: string;
  readonly json: string;
  /** The member of the answer that has the gaps: `from`, `to`, `reason`. */
  readonly member: string;
  readonly first: number;
  readonly last: number;
  readonly gaps: readonly { readonly from: number; readonly to: number; readonly reason: string }[];
}

/** One thing of a list of the API, on a board. */
export interface Card {
  /** Where it stands in the answer: `correctiveActions.2`. */
  readonly member: string;
  readonly facts: readonly { readonly title: string; readonly cell: Cell }[];
  readonly way: Cell;
}

/** Things side by side, by the states that they are in. */
export interface BoardSection {
  readonly kind: 'board';
  readonly title: string;
  readonly json: string;
  readonly columns: readonly { readonly title: string; readonly cards: readonly Card[] }[];
}

export type Section =
  | BoardSection
  | ChartSection
  | FactsSection
  | FormSection
  | LinksSection
  | QrSection
  | StripSection
  | TableSection
  | TextSection;

/** A screen of the console, or the way into it. */
export interface ConsolePage {
  readonly name: 'console';
  readonly title: string;
  readonly node: string;
  /** Null where nobody is signed in. */
  readonly signedIn: {
    readonly account: string;
    readonly key: string;
    readonly until: string;
    /** What its forms send along. */
    readonly token: string;
    readonly screen: ScreenName | null;
  } | null;
  readonly sections: readonly Section[];
}
