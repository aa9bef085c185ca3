import { useResource } from '../../data/queries.ts';
import { NamedRecord, recordsOf } from '../../data/records.ts';
import { Button, IconButton } from '../../design/Button.tsx';
import { controlLook } from '../../design/Field.tsx';
import type { EntryForm } from '../../entry/use-entry.ts';
import { useTexts } from '../../i18n/locale.ts';
import css from './ModelPools.module.css';
import { type Member, membersOf, moved, ROLES, type Role } from './pool.ts';
import { texts } from './texts.ts';

const MODELS = recordsOf('models', NamedRecord);

const Row = (props: {
  member: Member;
  index: number;
  count: number;
  models: readonly string[];
  onChange: (fields: Partial<Member>) => void;
  onMove: (by: 1 | -1) => void;
  onRemove: () => void;
}) => {
  const t = useTexts(texts);
  const { member, index, models } = props;
  const { model_id: id, weight, role } = member;
  const n = index + 1;
  return (
    <li className={css.member}>
      <select
        aria-label={t('member.model', { n })}
        className={controlLook}
        value={id}
        onChange={({ target }) => props.onChange({ model_id: target.value })}
      >
        {!models.includes(id) && <option value={id}>{id}</option>}
        {models.map((model) => (
          <option key={model} value={model}>
            {model}
          </option>
        ))}
      </select>
      <input
        aria-label={t('member.weight', { n })}
        className={controlLook}
        type="number"
        min={1}
        value={typeof weight === 'number' ? weight : ''}
        onChange={({ target }) => props.onChange({ weight: target.value === '' ? '' : Number(target.value) })}
      />
      <select
        aria-label={t('member.role', { n })}
        className={controlLook}
        value={role}
        onChange={({ target }) =>
          props.onChange({ role: ROLES.find((each: Role) => each === target.value) ?? 'member' })
        }
      >
        {ROLES.map((each) => (
          <option key={each} value={each}>
            {t(`role.${each}`)}
          </option>
        ))}
      </select>
      <span className={css.moves}>
        <IconButton
          small
          icon="arrowUp"
          label={t('member.up', { id })}
          disabled={index === 0}
          onClick={() => props.onMove(-1)}
        />
        <IconButton
          small
          icon="arrowDown"
          label={t('member.down', { id })}
          disabled={n === props.count}
          onClick={() => props.onMove(1)}
        />
        <IconButton small icon="close" label={t('member.remove', { id })} onClick={props.onRemove} />
      </span>
    </li>
  );
};

/** Members have nothing that stays theirs but their place. */
const placeOf = (index: number): string => `member ${index}`;

export const Members = ({ form }: { form: EntryForm }) => {
  const t = useTexts(texts);
  const models = (useResource(MODELS).data ?? []).map(({ id }) => id);
  const members = membersOf(form.draft);
  const error = form.errors.get('members');
  const put = (next: readonly Member[]): void => form.set({ members: next });
  const free = models.find((id) => members.every(({ model_id }) => model_id !== id));
  return (
    <fieldset className={css.box} aria-describedby={error ? 'members-error' : undefined}>
      <legend>{t('members')}</legend>
      <p className={css.quiet}>{t('members.hint')}</p>
      <ol className={css.members}>
        {members.map((member, index) => (
          <Row
            key={placeOf(index)}
            member={member}
            index={index}
            count={members.length}
            models={models}
            onChange={(fields) =>
              put(members.map((other, at) => (at === index ? { ...other, ...fields } : other)))
            }
            onMove={(by) => put(moved(members, index, by))}
            onRemove={() => put(members.filter((_, at) => at !== index))}
          />
        ))}
      </ol>
      <Button
        small
        icon="plus"
        aria-invalid={error !== undefined || undefined}
        onClick={() => put([...members, { model_id: free ?? '', weight: 1, role: 'member' }])}
      >
        {t('member.add')}
      </Button>
      {error && (
        <p className={css.error} id="members-error">
          {error}
        </p>
      )}
    </fieldset>
  );
};
