// A thread that makes certificates, one after the other. What it throws ends it, and fails the certificate under work.
import { parentPort } from 'node:worker_threads';
import { certificatePdf } from './certificate-page.ts';
import type { CertificateOrder, CertificateWord } from './certificate-thread.ts';

parentPort?.on('message', async ({ facts, proof }: CertificateOrder) => {
  const pdf: CertificateWord = await certificatePdf(facts, proof);
  parentPort?.postMessage(pdf, [pdf.buffer]);
});
