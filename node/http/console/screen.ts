import type { JsonObject } from '../../../protocol/json/value.ts';
import type {
  Cell,
  Column,
  FactsSection,
  FormField,
  FormSection,
  ScreenName,
  Section,
  TableSection,
} from '../../pages/console-page.ts';
import { cellOf, itemsOf, memberOf } from './cells.ts';

/** What the API said no to. */
export class ApiRefusal extends Error {
  override readonly name = 'ApiRefusal';
  readonly status: number;
  readonly problem: JsonObject;

  constructor(status: number, problem: JsonObject) {
    super(typeof problem.detail === 'string' ? problem.detail : `the API answered ${status}`);
    this.status = status;
    this.problem = problem;
  }
}

/** A look at a screen. */
export interface Look {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Epoch milliseconds. */
  readonly now: number;
  /** `GET` of the API, in the name of whoever looks. Throws `ApiRefusal`. */
  ask(path: string): Promise<JsonObject>;
}

export interface ShownScreen {
  readonly title: string;
  readonly sections: readonly (Promise<Section> | Section)[];
}

export interface Screen {
  /** Below `/console`. */
  readonly path: string;
  /** Where it stands in the navigation. */
  readonly name: ScreenName | null;
  /** Throws `ApiRefusal` where the whole of it cannot be shown; a part of it that cannot is told of in its place. */
  show(look: Look): Promise<ShownScreen> | ShownScreen;
}

/** A list of the API as a table. */
export interface TableSpec {
  readonly title: string;
  readonly about?: string;
  /** Path of the API, with its query but for the cursor. */
  readonly path: string;
  readonly member?: string;
  readonly columns: readonly Column[];
  /** A last column: what can be done with an item. */
  readonly ways?: (item: JsonObject) => Cell;
  /** Other cells than those that a value itself gives. */
  readonly cells?: Readonly<Record<string, (item: JsonObject) => Cell>>;
  readonly empty: { readonly text: string; readonly curl: string | null };
  /** The screen that it is on: where its next page is. */
  readonly here: string;
}

/** Columns of fields of the API under the titles that people read. */
export function columns(titles: Readonly<Record<string, string>>): readonly Column[] {
  return Object.entries(titles).map(([field, title]) => ({ field, title }));
}

/**
 * One page of a list, from where the look's `cursor` says, if its `list` names this one: a screen may have several. Throws
 * `ApiRefusal`.
 */
export async function tableOf(look: Look, spec: TableSpec): Promise<TableSection> {
  const { title, about, member = 'items', ways, cells = {}, empty } = spec;
  const [list = ''] = spec.path.split('?');
  const json = withQuery(spec.path, { cursor: look.query.get('list') === list ? look.query.get('cursor') : null });
  const answer = await look.ask(json);
  const rows = itemsOf(answer, member).map((item) =>
    spec.columns
      .map(({ field }) => cells[field]?.(item) ?? cellOf(field, memberOf(item, field)))
      .concat(ways === undefined ? [] : ways(item)),
  );
  const next = answer.nextCursor;
  return {
    kind: 'table',
    title,
    ...(about === undefined ? {} : { about }),
    json,
    member,
    columns: ways === undefined ? spec.columns : [...spec.columns, { field: 'ways', title: 'What you can do' }],
    rows,
    empty,
    next:
      typeof next === 'string' ? withQuery(spec.here, { ...Object.fromEntries(look.query), list, cursor: next }) : null,
  };
}

/** Members of an answer of the API. Throws `ApiRefusal`. */
export async function factsOf(
  look: Look,
  title: string,
  json: string,
  titles: Readonly<Record<string, string>>,
): Promise<FactsSection> {
  return factsFrom(await look.ask(json), title, json, titles);
}

/** Members of an answer that is there already. */
export function factsFrom(
  answer: JsonObject,
  title: string,
  json: string | null,
  titles: Readonly<Record<string, string>>,
): FactsSection {
  const facts = Object.entries(titles).map(([field, name]) => ({
    title: name,
    cell: cellOf(field, memberOf(answer, field)),
  }));
  return { kind: 'facts', title, json, facts };
}

/** The form that narrows a list: what it says stands in the address. `path`: below the root. */
export function filterOf(
  look: Look,
  path: string,
  fields: Readonly<Record<string, string | readonly [title: string, choices: readonly string[]]>>,
): FormSection {
  return {
    kind: 'form',
    title: 'Narrow the list',
    about: null,
    danger: null,
    method: 'get',
    action: path,
    hidden: [],
    isDrafted: false,
    submit: 'Show',
    fields: Object.entries(fields).map(([name, told]): FormField => {
      const [title, choices] = typeof told === 'string' ? [told, []] : told;
      const kind = choices.length > 0 ? 'choice' : 'text';
      const value = look.query.get(name) ?? '';
      return { name, title, kind, choices, isRequired: false, value, help: null, error: null, maxLength: null };
    }),
  };
}

/** A path with a query of what is there. */
export function withQuery(path: string, query: Readonly<Record<string, string | null | undefined>>): string {
  const [base = '', given] = path.split('?');
  const all = new URLSearchParams(given);
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== '') all.set(name, value);
  }
  return all.size === 0 ? base : `${base}?${all}`;
}

/** What the address of a screen narrows its list by: of the names that are taken, those that say something. */
export function narrowed(look: Look, names: readonly string[]): Readonly<Record<string, string | null>> {
  return Object.fromEntries(names.map((name) => [name, look.query.get(name)]));
}

/** The way to a form of the console, with what is known already. */
export function formLink(text: string, form: string, given: Readonly<Record<string, string>> = {}): Cell {
  return { kind: 'link', text, href: withQuery(`console/forms/${form}`, given) };
}

/** A member of an answer as text; empty where it is none. */
export function textOf(item: JsonObject, path: string): string {
  const value = memberOf(item, path);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
