import ts from 'typescript-5';

/**
 * Checks a project with the oldest compiler that is supported: its own files and the declarations of the package.
 * Everything is checked as the first configuration has it; of the others it is enough that every import leads to the
 * same files. Prints what is wrong, or nothing.
 */

const [first = '', ...others] = process.argv.slice(2);

/** What was parsed once serves every program that takes it for the same kind of module. */
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

/** The AI SDK, and packages whose files it reads in the form of its own module system. */
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
