import { readFile } from 'node:fs/promises';
import { isSha256Hash, type Sha256Hash } from '../../protocol/hash.ts';
import { KeyError } from '../../protocol/keys/key-error.ts';
import { RosterChain } from '../../protocol/keys/roster-chain.ts';
import { RosterError } from '../../protocol/log/roster-error.ts';
import { parseRosterFile } from '../../protocol/keys/roster-file.ts';
import { type MisdeedProof, parseProofText, ProofError } from '../../protocol/proof/proof.ts';
import { type ProofVerdict, verifyProof } from '../../protocol/proof/verify.ts';
import { StatementError } from '../../protocol/statement/statement.ts';
import { nobleSuite } from '../../protocol/suite/noble.ts';
import type { VerifyArguments } from './arguments.ts';
import type { Output } from './command.ts';

const EXIT = { holds: 0, failed: 1, unpinned: 3 } as const;

/** Checks a proof of misbehaviour with no network. Throws where a file cannot be read. */
export async function verifyCommand({ file, roster, json }: VerifyArguments, { out }: Output): Promise<number> {
  const pin = await pinOf(roster);
  const proof = parseProofText(await readFile(file, 'utf8'));
  const verdict = judge(proof, pin);
  if (typeof verdict === 'string') {
    out(json ? JSON.stringify({ holds: false, problem: verdict }) : `does not hold: ${verdict}`);
    return EXIT.failed;
  }
  const { finding, genesis, pinned } = verdict;
  out(json ? JSON.stringify({ holds: true, pinned, genesis, ...finding }) : wordsOf(verdict));
  return pinned ? EXIT.holds : EXIT.unpinned;
}

/** The verdict, or why it proves nothing. */
function judge(proof: MisdeedProof, pin: Sha256Hash | undefined): ProofVerdict | string {
  try {
    return verifyProof(nobleSuite, proof, pin);
  } catch (error) {
    const isJudged =
      error instanceof ProofError ||
      error instanceof RosterError ||
      error instanceof KeyError ||
      error instanceof StatementError;
    if (isJudged) return error.message;
    throw error;
  }
}

function wordsOf({ finding: { misdeed, members, batch, revokedKeys }, genesis, pinned }: ProofVerdict): string {
  const where = batch === null ? '' : ` of batch ${batch.node}/${batch.number}`;
  const revoked = revokedKeys.length === 0 ? '' : '\nthe key is revoked: somebody else may have held it';
  const trust = pinned ? 'pinned' : 'NOT pinned: give --roster';
  return `holds: ${misdeed}${where} by ${members.join(', ')}${revoked}\nfederation ${genesis} (${trust})`;
}

async function pinOf(given: string | null): Promise<Sha256Hash | undefined> {
  if (given === null) return undefined;
  if (isSha256Hash(given)) return given;
  return RosterChain.open(nobleSuite, parseRosterFile(await readFile(given, 'utf8'))).genesis;
}
