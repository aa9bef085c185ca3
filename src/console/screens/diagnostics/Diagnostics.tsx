import { type Problem, Problems } from '../../activity/Problems.tsx';
import { useResource } from '../../data/queries.ts';
import { type Diagnostic, diagnostics } from '../../data/resources.ts';
import { Card, Page } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { Freshness, freshOf } from '../../list/Freshness.tsx';
import { grouped, historyOf, problemOf } from './diagnosed-resource.ts';
import texts from './texts.json' with { type: 'json' };

export default function Diagnostics() {
  const t = useTexts(texts);
  const format = useFormat();
  const query = useResource(diagnostics);
  const withHistory = (found: Diagnostic): Problem => {
    const problem = problemOf(found, t);
    const { depends_on: missing } = found;
    return missing
      ? { ...problem, links: [...problem.links, { text: t('common.auditLog'), href: historyOf(missing) }] }
      : problem;
  };
  return (
    <Page
      title={t('title')}
      count={query.data && format.number(query.data.diagnostics.length)}
      purpose={t('purpose')}
      actions={<Freshness {...freshOf(query, diagnostics.every)} />}
    >
      <Loaded query={query} off={diagnostics.off}>
        {({ diagnostics: found }) =>
          found.length === 0 ? (
            <EmptyState title={t('empty.title')}>{t('empty.text')}</EmptyState>
          ) : (
            grouped(found).map(([severity, own]) => (
              <Card key={severity} flush title={t(severity, { count: own.length })}>
                <Problems problems={own.map(withHistory)} />
              </Card>
            ))
          )
        }
      </Loaded>
    </Page>
  );
}
