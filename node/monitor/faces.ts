import { ProofError } from '../../protocol/proof/proof.ts';
import { UnknownKeyError } from '../../protocol/proof/judge.ts';
import { StatementError } from '../../protocol/statement/statement.ts';
import type { Alerts } from './alerts.ts';
import { FaceError, type FederationAnswer, type PublicFace } from './public-face.ts';

export interface FacesOptions {
  readonly faces: readonly PublicFace[];
  readonly alerts: Alerts;
  readonly now: () => number;
  /** Rounds in a row in which a node must fail before that is told. */
  readonly patience: number;
}

/** A node as it answered in this round. */
export interface Shown {
  readonly face: PublicFace;
  readonly federation: FederationAnswer;
}

/** The nodes that are watched. What goes wrong with one is noted under its address and touches no other. */
export class Faces {
  readonly #options: FacesOptions;
  /** Rounds in a row in which a node failed, by address. */
  readonly #failures = new Map<string, number>();
  #failing = new Map<string, string>();
  #shown: readonly Shown[] = [];
  #turn = 0;
  #paced = false;
  #lacksKeys = true;

  constructor(options: FacesOptions) {
    this.#options = options;
  }

  get all(): readonly PublicFace[] {
    return this.#options.faces;
  }

  /** The nodes that answered at the beginning of this round, another one first in each. */
  get shown(): readonly Shown[] {
    return this.#shown;
  }

  /** Whether a node was not asked all that there was to ask: so as not to burden it, or since it is slow. */
  get paced(): boolean {
    return this.#paced;
  }

  /** Whether a signature was by a key whose certificate is not known; asking resets it. */
  takeLackOfKeys(): boolean {
    const lacks = this.#lacksKeys;
    this.#lacksKeys = false;
    return lacks;
  }

  /** Begins a round: asks every node where it stands. */
  async begin(): Promise<void> {
    this.#paced = false;
    for (const face of this.all) face.beginRound();
    const { faces } = this.#options;
    const turned = faces.map((_, i) => faces[(i + this.#turn) % faces.length]).filter((face) => face !== undefined);
    this.#turn++;
    const answers = await Promise.all(
      turned.map(async (face) => {
        const federation = await this.ask(face, () => face.federation());
        return federation === undefined ? [] : [{ face, federation }];
      }),
    );
    this.#shown = answers.flat();
  }

  /** Ends the round: says which nodes failed for long enough. */
  end(): void {
    const { faces, alerts, patience, now } = this.#options;
    for (const { url } of faces) {
      const failure = this.#failing.get(url);
      const failures = failure === undefined ? 0 : (this.#failures.get(url) ?? 0) + 1;
      this.#failures.set(url, failures);
      if (failure !== undefined && failures >= patience) alerts.see('node-failing', url, failure, now());
    }
    this.#failing = new Map();
  }

  /** Asks a node and works on its answer; undefined where it failed, or showed what does not hold. */
  async ask<Result>(face: PublicFace, work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof UnknownKeyError) this.#lacksKeys = true;
      else if (error instanceof FaceError && error.code === 'paced') this.#paced = true;
      else if (error instanceof FaceError && error.code !== 'unreadable') this.#fail(face, error);
      else if (error instanceof FaceError || error instanceof ProofError || error instanceof StatementError) {
        this.lies(face, error.message);
      } else throw error;
      return undefined;
    }
  }

  #fail(face: PublicFace, error: FaceError): void {
    if (error.code === 'slow') this.#paced = true;
    // The first failure of a round is why the others follow.
    if (!this.#failing.has(face.url)) this.#failing.set(face.url, error.message);
  }

  lies(face: PublicFace, detail: string): void {
    this.#options.alerts.see('node-lies', face.url, detail, this.#options.now());
  }
}
