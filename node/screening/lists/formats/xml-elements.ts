import { type SaxesAttributeNSIncomplete, SaxesParser, type SaxesTagNS } from 'saxes';
import { ListError, quoted } from '../list-error.ts';
import type { ListFile } from './format.ts';

/** An element with all that is in it. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  /** Character data directly inside it. */
  readonly text: string;
}

export interface XmlForm {
  readonly root: string;
  /** Null: elements of no namespace. */
  readonly namespace: string | null;
  /** Path below the root of the elements that are read, joined by `/`. */
  readonly wanted: ReadonlySet<string>;
  /** Told of the root's attributes, once. */
  readonly onRoot: (attributes: Readonly<Record<string, string>>) => void;
}

interface OpenElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlElement[];
  text: string;
}

/** Real lists nest four deep. */
const MAX_DEPTH = 16;
/** Longest text of one element or attribute. The longest of a real list has about 10,000 characters. */
const MAX_TEXT_CHARACTERS = 128 << 10;
/** Most elements inside one that is read. The largest of a real list has about 300. */
const MAX_ELEMENTS = 20_000;

/**
 * The wanted elements of an XML file in UTF-8, one after another. A document type, which alone could define entities or
 * name other files, is refused; nothing is ever fetched. Throws `ListError`.
 */
export async function* xmlElements(file: ListFile, form: XmlForm): AsyncGenerator<XmlElement> {
  const reader = new ElementReader(file.name, form);
  for await (const piece of file.text()) {
    reader.write(piece);
    yield* reader.take();
  }
  reader.end();
  yield* reader.take();
}

class ElementReader {
  readonly #file: string;
  readonly #form: XmlForm;
  readonly #parser = new SaxesParser<{ xmlns: true }>({ xmlns: true });
  /** Names of the elements that are open, below the root. */
  readonly #path: string[] = [];
  /** The elements that are open, from the wanted one on. */
  readonly #open: OpenElement[] = [];
  #elements = 0;
  #isInRoot = false;
  /** Characters since the parser last told of anything: what it holds of one token. */
  #untold = 0;
  #ready: XmlElement[] = [];

  constructor(file: string, form: XmlForm) {
    this.#file = file;
    this.#form = form;
    const parser = this.#parser;
    parser.on('error', (error) => {
      throw this.#malformed(quoted(error.message));
    });
    parser.on('doctype', () => {
      throw this.#malformed('it has a document type');
    });
    parser.on('xmldecl', ({ encoding }) => {
      if (encoding !== undefined && encoding.toLowerCase() !== 'utf-8') throw this.#malformed('it is not in UTF-8');
    });
    parser.on('attribute', ({ value }: SaxesAttributeNSIncomplete) => this.#requireShort(value));
    parser.on('opentag', (tag) => this.#onOpen(tag));
    parser.on('text', (text) => this.#onText(text));
    parser.on('cdata', (text) => this.#onText(text));
    parser.on('closetag', () => this.#onClose());
  }

  write(piece: string): void {
    this.#untold += piece.length;
    this.#parser.write(piece);
    if (this.#untold > piece.length + MAX_TEXT_CHARACTERS) throw this.#malformed('a piece of it is too long');
  }

  end(): void {
    this.#parser.close();
  }

  take(): readonly XmlElement[] {
    const ready = this.#ready;
    this.#ready = [];
    return ready;
  }

  #onOpen({ local, uri, attributes }: SaxesTagNS): void {
    this.#untold = 0;
    const { root, namespace, wanted, onRoot } = this.#form;
    const plain = Object.fromEntries(Object.values(attributes).map(({ name, value }) => [name, value]));
    if (!this.#isInRoot) {
      if (local !== root || uri !== (namespace ?? '')) throw this.#malformed(`its root is ${quoted(local)}`);
      this.#isInRoot = true;
      onRoot(plain);
      return;
    }
    this.#path.push(local);
    if (this.#path.length > MAX_DEPTH) throw this.#malformed('it nests too deeply');
    if (this.#open.length === 0 && !wanted.has(this.#path.join('/'))) return;
    if (this.#open.length === 0) this.#elements = 0;
    if (++this.#elements > MAX_ELEMENTS) throw this.#malformed('one of its entries is too large');
    this.#open.push({ name: local, attributes: plain, children: [], text: '' });
  }

  #onText(text: string): void {
    this.#untold = 0;
    this.#requireShort(text);
    const element = this.#open.at(-1);
    if (element === undefined) return;
    this.#requireShort(element.text);
    element.text += text;
  }

  #onClose(): void {
    this.#untold = 0;
    this.#path.pop();
    const closed = this.#open.pop();
    if (closed === undefined) return;
    const parent = this.#open.at(-1);
    if (parent === undefined) this.#ready.push(closed);
    else parent.children.push(closed);
  }

  #requireShort(text: string): void {
    if (text.length > MAX_TEXT_CHARACTERS) throw this.#malformed('a text in it is too long');
  }

  #malformed(reason: string): ListError {
    return new ListError('malformed', `${this.#file}: ${reason}`);
  }
}

/** The children of this name. */
export function childrenOf(element: XmlElement, name: string): readonly XmlElement[] {
  return element.children.filter((child) => child.name === name);
}

/** Text of the first child of this name; empty where there is none. */
export function textOf(element: XmlElement, name: string): string {
  return element.children.find((child) => child.name === name)?.text ?? '';
}
