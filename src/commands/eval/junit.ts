import XmlBuilder from 'fast-xml-builder';
import type { EvalItem, EvalRun } from '../../schema/eval-run.ts';
import { failureText } from './failure-text.ts';
import { nameOf, type Outcome } from './outcome.ts';

/**
 * An eval run in the format of test results for pipelines (JUnit XML): a suite for the run, a case for each item. Cells
 * of a cancelled run that were not executed are errors of the suite.
 */
export const renderJunit = (run: EvalRun, { totals }: Outcome): string => {
  const failures = totals.items - totals.passed;
  const missing = totals.planned - totals.items;
  const counts = {
    '@tests': totals.planned,
    '@failures': failures,
    '@errors': missing,
    '@time': seconds(run.items.reduce((sum, { report }) => sum + report.elapsed_ms, 0)),
  };
  const suite = {
    '@name': run.dataset_id,
    ...counts,
    '@timestamp': new Date(run.started_at_secs * 1000).toISOString().slice(0, 19),
    properties: {
      property: Object.entries({
        'eval.run': run.id,
        'dataset.revision': run.dataset_revision,
        mode: run.execution_mode,
        tokens: totals.tokens,
        ...(totals.cost_usd !== undefined && { cost_usd: totals.cost_usd }),
      }).map(([name, value]) => ({ '@name': name, '@value': value })),
    },
    testcase: [
      ...run.items.map(caseOf),
      ...Array.from({ length: missing }, (_, index) => neverPlayed(run, index)),
    ],
  };
  const xml = builder.build({
    '?xml': { '@version': '1.0', '@encoding': 'UTF-8' },
    testsuites: { '@name': 'troupe eval', ...counts, testsuite: suite },
  });
  return `${xml.trimEnd()}\n`;
};

const builder = new XmlBuilder({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  format: true,
  suppressEmptyNode: true,
  suppressBooleanAttributes: false,
  attributeValueProcessor: (_, value) => legal(value),
  tagValueProcessor: (_, value) => legal(value),
});

/** XML 1.0 excludes most control characters and unpaired surrogates, even when escaped. */
const ILLEGAL = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

const legal = (value: unknown): string => String(value).replace(ILLEGAL, '\ufffd');

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

const caseOf = (item: EvalItem): object => {
  const { report, fixture_id } = item;
  const texts = report.failures.map(failureText);
  return {
    '@name': nameOf(item),
    '@classname': fixture_id,
    '@time': seconds(report.elapsed_ms),
    ...(texts.length > 0 && {
      failure: {
        '@message': texts[0],
        '@type': report.failures[0]?.kind,
        '#text': [...texts, '', `answer: ${report.final_text}`].join('\n'),
      },
    }),
  };
};

const neverPlayed = ({ dataset_id }: EvalRun, index: number): object => ({
  '@name': `not played ${index + 1}`,
  '@classname': dataset_id,
  '@time': seconds(0),
  error: { '@message': 'the run ended before this cell was played' },
});
