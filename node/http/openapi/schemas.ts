import type { TSchema } from 'typebox';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { mapSchema, titledSchema } from '../written-schema.ts';

/**
 * The named schemas of a document. A shape with a title is written once, under that name, and referred to wherever it
 * stands; two shapes of one title may differ in their description alone.
 */
export class NamedSchemas {
  readonly #schemas = new Map<string, JsonObject>();

  /** What stands for a shape where it is used. `name`: what it goes by where it has no title of its own. */
  write(shape: TSchema, name?: string): JsonObject {
    const schema = titledSchema(shape);
    const named = name === undefined || schema.title !== undefined ? schema : { title: name, ...schema };
    return mapSchema(named, (part) => this.#place(part));
  }

  /** Keeps a schema that is no shape. Returns what stands for it. */
  add(name: string, schema: JsonObject): JsonObject {
    return this.#place({ title: name, ...schema });
  }

  /** All of them, by name. */
  all(): JsonObject {
    return Object.fromEntries([...this.#schemas].toSorted(([one], [other]) => (one < other ? -1 : 1)));
  }

  #place(part: JsonObject): JsonObject {
    const { title, ...schema } = part;
    if (typeof title !== 'string') return part;
    const known = this.#schemas.get(title);
    const reference = { $ref: `#/components/schemas/${title}` };
    if (known === undefined) {
      this.#schemas.set(title, schema);
      return reference;
    }
    if (JSON.stringify(known) === JSON.stringify(schema)) return reference;
    const { description, ...rest } = schema;
    const { description: _, ...same } = known;
    if (JSON.stringify(same) !== JSON.stringify(rest)) throw new RangeError(`two schemas are named ${title}`);
    return description === undefined ? reference : { ...reference, description };
  }
}
