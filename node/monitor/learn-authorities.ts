import type { AuthorityWatch } from './authority-watch.ts';
import type { Faces, Shown } from './faces.ts';
import type { PublicFace } from './public-face.ts';

/** Pages of one node's keys or rosters in one round at most. */
const MAX_PAGES = 16;

/**
 * Learns rosters from every node that shows others, and keys from one node a round, another one each time: from all of
 * them where a signature was by an unknown key, or the ledger names a statement that is not known.
 */
export async function learnAuthorities(authority: AuthorityWatch, faces: Faces): Promise<void> {
  const isWanting = faces.takeLackOfKeys() || authority.awaited.length > 0;
  for (const shown of faces.shown) await learnRosters(authority, faces, shown);
  for (const { face } of isWanting ? faces.shown : faces.shown.slice(0, 1)) await learnKeys(authority, faces, face);
}

async function learnRosters(authority: AuthorityWatch, faces: Faces, { face, federation }: Shown): Promise<void> {
  if (authority.knowsRoster(federation.roster.hash)) return;
  await faces.ask(face, async () => {
    // From the first that may differ: what is not known may follow a rival of one that is.
    let from: number | null = 2;
    for (let page = 0; from !== null && page < MAX_PAGES; page++) {
      const answer = await face.rosters(from);
      for (const statement of answer.rosters) {
        if (!authority.learnRoster({ statement, signatures: [] })) faces.lies(face, 'a roster that does not hold');
      }
      from = answer.nextFrom;
    }
  });
}

async function learnKeys(authority: AuthorityWatch, faces: Faces, face: PublicFace): Promise<void> {
  await faces.ask(face, async () => {
    let cursor: string | null = null;
    for (let page = 0; page < MAX_PAGES; page++) {
      const answer = await face.signingKeys(cursor);
      for (const signed of answer.certificates) {
        if (!authority.learnCertificate(signed)) faces.lies(face, 'a key certificate that does not hold');
      }
      for (const signed of answer.revocations) {
        if (!authority.learnRevocation(signed)) faces.lies(face, 'a revocation that does not hold');
      }
      cursor = answer.nextCursor;
      if (cursor === null) return;
    }
  });
}
