import type { StatementFollower } from '../accounts/elsewhere/statement-follower.ts';
import type { Anchoring } from '../anchoring/anchoring.ts';
import type { FederationSync } from '../federation/federation.ts';
import type { Leaving } from '../federation/leaving.ts';
import type { LogFollower } from '../federation/log-follower.ts';
import type { NodeStart } from '../federation/start/node-start.ts';
import type { StartAnswers } from '../federation/start/start-answers.ts';
import type { StatementNamer } from '../federation/statement-namer.ts';
import type { Agents } from '../governance/agents/agents.ts';
import type { Intake } from '../intake/intake.ts';
import type { Sealer } from '../intake/sealing/sealer.ts';
import type { Rescue } from '../log/rescue.ts';
import type { Vouching } from '../log/vouching.ts';
import type { Packs } from '../packs/packs.ts';
import type { ConfirmationWatch } from '../verification/attestation/confirmation-watch.ts';
import type { VerificationServices } from '../verification/verification-services.ts';

/** The parts of a node that know of each other in both directions. */
export interface ConnectedParts {
  readonly agents: Agents;
  readonly anchoring: Anchoring;
  readonly confirmationWatch: ConfirmationWatch;
  readonly federation: FederationSync;
  readonly follower: LogFollower;
  readonly foreignStatements: StatementFollower;
  readonly intake: Intake;
  readonly leaving: Leaving;
  readonly namer: StatementNamer;
  readonly packs: Packs;
  readonly rescue: Rescue;
  readonly sealer: Sealer;
  readonly start: NodeStart;
  readonly starts: StartAnswers;
  readonly verification: VerificationServices;
  readonly vouching: Vouching;
}

/**
 * Where such parts find each other: each is added as soon as it is made. What a part needs to be made it is given; what
 * it tells and asks later goes by here (`connections.ts`).
 */
export class Parts {
  readonly #made: Partial<ConnectedParts> = {};

  add(parts: Partial<ConnectedParts>): void {
    Object.assign(this.#made, parts);
  }

  /** Undefined where it is not made yet. */
  find<Name extends keyof ConnectedParts>(name: Name): ConnectedParts[Name] | undefined {
    return this.#made[name];
  }

  /** Throws a RangeError where it is not made yet. */
  get<Name extends keyof ConnectedParts>(name: Name): ConnectedParts[Name] {
    const part = this.find(name);
    if (part === undefined) throw new RangeError(`the ${name} of the node is not made yet`);
    return part;
  }
}
