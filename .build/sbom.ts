import { createHash } from 'node:crypto';

/** A package whose code is bundled. */
export type Bundled = {
  name: string;
  version: string;
  license: string;
  author: string | undefined;
  text: string;
};

/** A bill of materials in CycloneDX 1.6. Equal packages give equal bytes. */
export function createSbom(
  product: { name: string; version: string; license: string },
  packages: readonly Bundled[],
): object {
  const components = [...new Map(packages.map((each) => [purlOf(each), each]))].map(([purl, each]) => ({
    type: 'library',
    'bom-ref': purl,
    ...nameOf(each.name),
    version: each.version,
    licenses: [licenseOf(each.license)],
    purl,
  }));
  const root = purlOf(product);
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify([product, components]))}`,
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': root,
        name: product.name,
        version: product.version,
        licenses: [licenseOf(product.license)],
        purl: root,
      },
    },
    components,
    dependencies: [{ ref: root, dependsOn: components.map(({ purl }) => purl) }],
  };
}

const purlOf = ({ name, version }: { name: string; version: string }): string =>
  `pkg:npm/${name.replace('@', '%40')}@${version}`;

function nameOf(name: string): { group?: string; name: string } {
  const [, group, rest] = /^(@[^/]+)\/(.*)$/.exec(name) ?? [];
  return group === undefined || rest === undefined ? { name } : { group, name: rest };
}

const licenseOf = (license: string): object =>
  /[ ()]/.test(license) ? { expression: license } : { license: { id: license } };

function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
