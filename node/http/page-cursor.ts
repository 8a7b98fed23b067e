import { hash } from 'node:crypto';
import Type, { type Static, type TTuple } from 'typebox';
import { decodeBase64url, decodeUtf8, encodeBase64url, utf8 } from '../../protocol/bytes.ts';
import { Compile, type ShapeCheck } from '../../protocol/shape-check.ts';
import { canonicalize } from '../../protocol/json/canonical.ts';
import type { JsonValue } from '../../protocol/json/value.ts';
import { CursorShape, MAX_CURSOR_CHARACTERS } from '../../protocol/shapes.ts';
import { fieldProblem } from './problem.ts';
import type { ParameterDocumentation } from './route.ts';

/** The key of a row, where a list goes on after it. */
export const RowPlaceShape = Type.Refine(
  Type.String(),
  (text) => text.isWellFormed(),
  () => 'is no key',
);

type Place = readonly (string | number)[];

/** Where the next page of one list starts, as text that callers hand back and do not read. */
export class PageCursor<Shape extends TTuple> {
  readonly #check: ShapeCheck<Shape>;
  /** The parameter of the list that takes it, as the documentation shows it. */
  readonly parameter: ParameterDocumentation;

  /** `shape`: of the place that a page goes on from. */
  constructor(shape: Shape, example: Place, description = '`nextCursor` of the page before.') {
    this.#check = Compile(shape);
    this.parameter = { description, shape: CursorShape, example: written(example) };
  }

  write(place: Static<Shape> & Place): string {
    return written(place);
  }

  /** The place; undefined of the first page. Throws `Problem` 400 where the text is no cursor of this list. */
  read(text: string | undefined): Static<Shape> | undefined {
    if (text === undefined) return undefined;
    const place = text.length > MAX_CURSOR_CHARACTERS ? undefined : parsed(text);
    if (this.#check.Check(place)) return place;
    throw fieldProblem('cursor', 'cursor', 'is no cursor of this list');
  }
}

/** What a list is narrowed by, as it is understood; what is undefined narrows nothing. */
export type Filters = Readonly<Record<string, JsonValue | undefined>>;

const BINDING_DIGITS = 16;
/** Between a place and what it is bound to: no digit of base64url. */
const BINDING_MARK = '.';

/** Digits that the same filters have, in whatever order they are named. */
export function bindingOf(filters: Filters): string {
  const given = Object.entries(filters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return hash('sha256', canonicalize(Object.fromEntries(given))).slice(0, BINDING_DIGITS);
}

/**
 * The cursor of a list that filters narrow. A place is one in the whole list: under other filters the page after it
 * would leave out what comes before it, and show no sign of that. So a cursor is good under its own filters alone.
 */
export class FilteredCursor<Shape extends TTuple> {
  readonly #places: PageCursor<Shape>;
  readonly parameter: ParameterDocumentation;

  /** `shape`: of the place that a page goes on from. */
  constructor(shape: Shape, example: Place) {
    this.#places = new PageCursor(shape, example);
    this.parameter = {
      ...this.#places.parameter,
      description: '`nextCursor` of the page before, with the same filters.',
      example: bound(written(example), {}),
    };
  }

  write(place: Static<Shape> & Place, filters: Filters): string {
    return bound(this.#places.write(place), filters);
  }

  /**
   * The place; undefined of the first page. Throws `Problem` 400 where the text is no cursor of this list, or was made
   * under other filters.
   */
  read(text: string | undefined, filters: Filters): Static<Shape> | undefined {
    if (text === undefined) return undefined;
    const [placed = ''] = text.split(BINDING_MARK);
    const place = this.#places.read(placed);
    if (text === bound(placed, filters)) return place;
    throw fieldProblem('cursor', 'cursor', 'belongs to other filters');
  }
}

function bound(place: string, filters: Filters): string {
  return `${place}${BINDING_MARK}${bindingOf(filters)}`;
}

function written(place: Place): string {
  return encodeBase64url(utf8(JSON.stringify(place)));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(decodeUtf8(decodeBase64url(text)));
  } catch {
    return undefined;
  }
}
