import Type, { type Static, type TTuple } from 'typebox';
import { decodeBase64url, decodeUtf8, encodeBase64url, utf8 } from '../../protocol/bytes.ts';
import { Compile, type ShapeCheck } from '../../protocol/shape-check.ts';
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
