import { homeOf } from '../../../protocol/accounts/account-id.ts';
import { PACK_FILES, type PackManifest } from '../../../protocol/pack/manifest.ts';
import { timeWords } from './report-document.ts';

/** `README.txt`: what is in a pack, and how it is checked, in plain words. */
export function readmeText({ question, node, records, generator }: Omit<PackManifest, 'files'>): string {
  const home = homeOf(question.account) ?? node;
  return `EVIDENCE PACK

Account   ${question.account}
Period    ${timeWords(question.from)} to ${timeWords(question.to)} (not included)
As of     ${timeWords(question.asOf)}
Records   ${records}
Made by   node ${node}, ${generator}

WHAT THIS IS

What was recorded of the sources that were asked for, in this period, and what proves it. It shows what was
recorded, when, and by which node. It does not show that a law is complied with, that what was recorded is true,
or that everything that happened was recorded.

HOW TO CHECK IT

The files here are worth nothing until they are checked, and whoever forges a pack forges its verifier with it.
So do not trust the verifier in this pack before you have compared it:

1. Take ${PACK_FILES.verifierPage} or ${PACK_FILES.verifierScript} from a release of Meridian, or compare the SHA-256
   of the one in this pack with the one that the release publishes (SHA256SUMS).
2. Take the fingerprint of the federation from somewhere else than from this pack or from who gave it to you: from
   the site of a member that you know, or from a contract.
3. Open ${PACK_FILES.verifierPage} in a browser, with the network off if you like, choose this ZIP file as a whole,
   and give the fingerprint. Or run, with Node.js 20 or later:

     node ${PACK_FILES.verifierScript} pack.zip --pin sha256:...

   It reads every byte, checks every record and its signatures, and looks for records that were left out.

WHAT IS IN IT

${PACK_FILES.page}        the report, for reading and printing
${PACK_FILES.report}        the same as a PDF
${PACK_FILES.records}     every record of the sources in the period, and the neighbour${
    question.withholdsBefore === true ? '' : 's before and'
  } after it${question.disclosure ? '; with contents and salts' : '; without contents'}
${PACK_FILES.table}       the same as a table, for spreadsheets; no text in it runs as a formula
proofs/           signed groups and batches, decisions of the ledger, checkpoints, keys and rosters
${PACK_FILES.frameworks}   the catalogue of frameworks that the report goes by
${PACK_FILES.auditLog}   ${
    home === node
      ? 'what the keys of the account did in the period'
      : `what the keys of the account did at node ${node}; the log of its home, node ${home}, is not here`
  }
${PACK_FILES.erasures}    contents that were erased, and what an earlier pack for the question had otherwise
${PACK_FILES.manifest}     the length and SHA-256 of each file; its own hash is a record of the node
${PACK_FILES.signature} the signature of the node over it
`;
}
