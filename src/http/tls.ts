import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { Unavailable } from '../schema/outcome.ts';

/** Certificate and key of the listener. They are read when the service starts; a renewed file needs a restart. */
export type TlsFiles = { cert_file: string; key_file: string };

/** Contents of the files. uWebSockets.js reads the files itself. */
export type Tls = TlsFiles & { cert: Buffer; key: Buffer; expires: Date };

/**
 * Reads the files and checks that they belong together, so that a wrong file is reported by name. The first certificate
 * is that of the service, and intermediate certificates follow it.
 *
 * @example
 * readTls({ cert_file: '/etc/troupe/fullchain.pem', key_file: '/etc/troupe/privkey.pem' });
 * @throws Unavailable with the variable, the file, the reason and what is allowed
 */
export const readTls = ({ cert_file, key_file }: TlsFiles): Tls => {
  const cert = read(CERT, cert_file);
  const key = read(KEY, key_file);
  const certificate = parse(CERT, cert_file, () => new X509Certificate(cert));
  const privateKey = parse(KEY, key_file, () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new Unavailable(
      `${KEY.variable}: '${key_file}' is not the key of the first certificate in '${cert_file}'`,
    );
  }
  // Rejects what OpenSSL does not use, such as short keys.
  parse(CERT, cert_file, () => createSecureContext({ cert, key }));
  return { cert_file, key_file, cert, key, expires: new Date(certificate.validTo) };
};

type File = { variable: string; allowed: string };

const CERT: File = {
  variable: 'SERVICE_TLS_CERT_FILE',
  allowed: 'a PEM file with the certificate, followed by intermediate certificates',
};
const KEY: File = {
  variable: 'SERVICE_TLS_KEY_FILE',
  allowed: 'a PEM file with the private key, without a passphrase',
};

const read = (file: File, path: string): Buffer => parse(file, path, () => readFileSync(path));

const parse = <Value>({ variable, allowed }: File, path: string, make: () => Value): Value => {
  try {
    return make();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Unavailable(`${variable}: '${path}' cannot be used: ${reason}; allowed: ${allowed}`, { cause });
  }
};
