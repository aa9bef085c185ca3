import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';

/** A self-signed certificate for `localhost`, valid until 2126, and its key; nothing trusts it. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBlTCCATugAwIBAgIUQN2kKDdHOxuTm8dO/Hg/zZdmZJswCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyNzEwMTMxM1oYDzIxMjYxMTAz
MTAxMzEzWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARltBsnTCBzNB256sf+t7/QcHhBj1vWcyiAejgDnqkDP83+EsFRAjuY
s9AtwOPDTBZVEXgTS4fdcLvmHL7glwSQo2kwZzAdBgNVHQ4EFgQUDpd7c9QTzJSR
um1JmKKZnW/IFX8wHwYDVR0jBBgwFoAUDpd7c9QTzJSRum1JmKKZnW/IFX8wDwYD
VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
SAAwRQIgQNmchMl6UidavuqRYJSV/B5WbTnEDiPbnN6B8miamjACIQC8NM/IKLW2
QCQJCzcPu4HT6Qn+YmrApd+TVj2kXVWO9w==
-----END CERTIFICATE-----`;
export const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgA7HXiuDqQO53AH26
4l9lXEFJKQyenrZRnhWApbOfyKShRANCAARltBsnTCBzNB256sf+t7/QcHhBj1vW
cyiAejgDnqkDP83+EsFRAjuYs9AtwOPDTBZVEXgTS4fdcLvmHL7glwSQ
-----END PRIVATE KEY-----`;

/** Writes the certificate and its key into a folder that lasts as long as the test. */
export const tlsFiles = (t: Test): { cert_file: string; key_file: string } => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-tls-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const files = { cert_file: join(folder, 'cert.pem'), key_file: join(folder, 'key.pem') };
  writeFileSync(files.cert_file, CERTIFICATE);
  writeFileSync(files.key_file, KEY);
  return files;
};
