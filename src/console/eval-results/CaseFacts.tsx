import { Markdown } from '../chat/markdown/Markdown.tsx';
import { redactText } from '../data/redact-text.ts';
import { Diff } from '../design/Diff.tsx';
import { type Fixture, recordedAnswer } from '../fixtures/dataset.ts';
import { expectationsOf } from '../fixtures/expectations.ts';
import fixtureTexts from '../fixtures/texts.json' with { type: 'json' };
import { useTexts } from '../i18n/locale.ts';
import type { Result } from './compare.ts';
import css from './EvalResults.module.css';
import texts from './texts.json' with { type: 'json' };

/** The input and the expectations of a test case, and its answers next to each other. */
export const CaseFacts = ({ result, fixture }: { result: Result; fixture: Fixture | undefined }) => {
  const t = useTexts(texts);
  const say = useTexts(fixtureTexts);
  const expectations = fixture ? expectationsOf(fixture.expect, say) : [];
  return (
    <>
      {fixture && (
        <section className="section" aria-label={t('item.input')}>
          <h3>{t('item.input')}</h3>
          <div className="well">{redactText(fixture.user_input)}</div>
        </section>
      )}
      {expectations.length > 0 && (
        <section className="section" aria-label={t('item.expectation')}>
          <h3>{t('item.expectation')}</h3>
          <ul>
            {expectations.map((sentence) => (
              <li key={sentence}>{redactText(sentence)}</li>
            ))}
          </ul>
        </section>
      )}
      <Answers result={result} recorded={fixture && recordedAnswer(fixture)} />
    </>
  );
};

/** The answer next to the one it is compared with: that of the other side, or else the recorded one. */
const Answers = ({ result, recorded }: { result: Result; recorded: string | undefined }) => {
  const t = useTexts(texts);
  const now = result.isGone ? undefined : result.item.report.final_text;
  const before = result.before?.report.final_text ?? recorded;
  const sides = [
    [t(result.before ? 'item.answerA' : 'item.recorded'), before],
    [t(result.before ? 'item.answerB' : 'item.answer'), now],
  ] as const;
  return (
    <>
      <div className={css.answers}>
        {sides.map(([title, said]) =>
          said === undefined ? null : (
            <section key={title} className="section" aria-label={title}>
              <h3>{title}</h3>
              <div className="well">
                {said === '' ? t('item.noAnswer') : <Markdown text={redactText(said)} />}
              </div>
            </section>
          ),
        )}
      </div>
      {before !== undefined && now !== undefined && before !== now && (
        <details className="section">
          <summary>{t('item.answerDiff')}</summary>
          <Diff before={{ answer: before }} after={{ answer: now }} />
        </details>
      )}
    </>
  );
};
