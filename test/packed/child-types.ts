import ts from 'typescript-5';

/**
 * Type-checks a project with the oldest supported compiler: its own files and the declarations of the package. All
 * files are checked with the first configuration; of the others, only the resolved files are compared with it. Prints
 * the problems, if any.
 */

const [first = '', ...others] = process.argv.slice(2);

/** Parsed files are shared by all programs that treat them as the same kind of module. */
const parsed = new Map<string, ts.SourceFile | undefined>();

const hostOf = (options: ts.CompilerOptions): ts.CompilerHost => {
  const host = ts.createCompilerHost(options);
  return {
    ...host,
    getSourceFile(fileName, how, ...more) {
      const format = typeof how === 'object' ? how.impliedNodeFormat : undefined;
      const key = `${fileName} ${format}`;
      if (!parsed.has(key)) parsed.set(key, host.getSourceFile(fileName, how, ...more));
      return parsed.get(key);
    },
  };
};

const programOf = (configFile: string) => {
  const config = ts.getParsedCommandLineOfConfigFile(configFile, undefined, {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: ({ messageText }) => {
      throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'));
    },
  });
  if (!config) throw new Error(`${configFile} is no configuration`);
  const { fileNames, options } = config;
  return ts.createProgram({ rootNames: fileNames, options, host: hostOf(options) });
};

const isOurs = ({ fileName }: ts.SourceFile): boolean =>
  !fileName.includes('/node_modules/') || fileName.includes('/node_modules/troupe/');

const program = programOf(first);
const ours = program.getSourceFiles().filter(isOurs);
const found = [
  ...program.getOptionsDiagnostics(),
  ...program.getGlobalDiagnostics(),
  ...ours.flatMap((file) => [
    ...program.getSyntacticDiagnostics(file),
    ...program.getSemanticDiagnostics(file),
  ]),
];
process.stdout.write(
  ts.formatDiagnostics(found, {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: () => '',
    getNewLine: () => '\n',
  }),
);

/** The AI SDK, and packages whose files it resolves in its own module format. */
const OF_AI_SDK = /\/node_modules\/(@ai-sdk|@standard-schema|eventsource-parser)\//;

const filesOf = (of: ts.Program): string[] =>
  of
    .getSourceFiles()
    .filter(({ fileName }) => !fileName.includes('/typescript-5/') && !OF_AI_SDK.test(fileName))
    .map(({ fileName }) => fileName)
    .sort();
const expected = new Set(filesOf(program));
for (const other of others) {
  const files = filesOf(programOf(other));
  const differing = [
    ...files.filter((file) => !expected.has(file)),
    ...[...expected].filter((file) => !files.includes(file)),
  ];
  for (const file of differing) process.stdout.write(`${other} and ${first} do not both read ${file}\n`);
}
