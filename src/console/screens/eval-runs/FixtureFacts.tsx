import { useMemo } from 'react';
import { useResource } from '../../data/queries.ts';
import { redactText } from '../../data/redact-text.ts';
import { redact } from '../../data/redaction.ts';
import { Json } from '../../design/Json.tsx';
import css from '../../evals/Evals.module.css';
import { texts } from '../../evals/texts.ts';
import { datasetOf } from '../../fixtures/dataset.ts';
import { useTexts } from '../../i18n/locale.ts';

/** What was asked and expected, as the dataset has it now. */
export const FixtureFacts = ({ dataset, fixture }: { dataset: string; fixture: string }) => {
  const t = useTexts(texts);
  const isStored = !dataset.startsWith('_');
  const known = useResource(datasetOf(dataset), isStored).data;
  const found = useMemo(() => known?.spec.fixtures.find(({ id }) => id === fixture), [known, fixture]);
  if (!found) return null;
  return (
    <>
      <section className={css.section} aria-label={t('item.input')}>
        <h3>{t('item.input')}</h3>
        <div className={css.answer}>{redactText(found.user_input)}</div>
      </section>
      <section className={css.section} aria-label={t('item.expectation')}>
        <h3>{t('item.expectation')}</h3>
        <Json value={redact(found.expect)} />
      </section>
    </>
  );
};
