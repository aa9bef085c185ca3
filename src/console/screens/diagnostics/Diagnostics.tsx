import { useResource } from '../../data/queries.ts';
import { redactText } from '../../data/redact-text.ts';
import { type Diagnostic, diagnostics } from '../../data/resources.ts';
import { buttonLook } from '../../design/Button.tsx';
import { Dot } from '../../design/Chip.tsx';
import { Card, Page } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { Freshness, freshOf } from '../../list/Freshness.tsx';
import { ScreenLink } from '../../shell/links.tsx';
import css from './Diagnostics.module.css';
import { creationOf, grouped, historyOf, placeOf } from './places.ts';
import { texts } from './texts.ts';

const TONES = { error: 'error', warning: 'warn', other: 'info' } as const;

const Row = ({ found }: { found: Diagnostic }) => {
  const t = useTexts(texts);
  const { code, resource, depends_on: missing, message } = found;
  const open = placeOf(found);
  const create = missing && creationOf(missing);
  return (
    <li className={css.row} data-testid={`diagnostic-${code}`}>
      <div className={css.said}>
        <code className={css.code}>{code}</code>
        <span>{redactText(message)}</span>
      </div>
      <div className={css.links}>
        {open !== undefined && (
          <ScreenLink to={open} className={buttonLook}>
            {t('open', { id: resource.id })}
          </ScreenLink>
        )}
        {missing && create !== undefined && (
          <ScreenLink to={create} className={buttonLook}>
            {t('fix.create', { id: missing.id })}
          </ScreenLink>
        )}
        {missing && (
          <ScreenLink to={historyOf(missing)} className={buttonLook}>
            {t('audit')}
          </ScreenLink>
        )}
      </div>
    </li>
  );
};

export default function Diagnostics() {
  const t = useTexts(texts);
  const format = useFormat();
  const query = useResource(diagnostics);
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
              <Card
                key={severity}
                flush
                title={t(severity, { count: own.length })}
                actions={<Dot tone={TONES[severity]} />}
              >
                <ul className={css.rows}>
                  {own.map((one) => (
                    <Row
                      key={`${one.code} ${one.resource.namespace}/${one.resource.id} ${one.depends_on?.id} ${one.message}`}
                      found={one}
                    />
                  ))}
                </ul>
              </Card>
            ))
          )
        }
      </Loaded>
    </Page>
  );
}
