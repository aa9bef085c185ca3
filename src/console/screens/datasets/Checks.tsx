import { isObject } from '../../data/guard.ts';
import { CheckField } from '../../design/Field.tsx';
import { type SeenProps, useWordAt } from '../../schema-form/context.ts';
import { Group } from '../../schema-form/lists.tsx';
import css from './Datasets.module.css';

/** An input for a list of any of the values of an enum. */
export const Checks = ({ schema, label, path, value, onChange }: SeenProps) => {
  const wordAt = useWordAt();
  const chosen: readonly unknown[] = Array.isArray(value) ? value : [];
  const { enum: values } = isObject(schema.items) ? schema.items : {};
  const options = Array.isArray(values) ? values.map(String) : [];
  return (
    <Group label={label} path={path}>
      {options.length === 0 && <p className="quiet">{wordAt(path, 'none')}</p>}
      <div className={`row ${css.options}`}>
        {options.map((id) => (
          <CheckField
            key={id}
            label={wordAt(path, id) ?? id}
            checked={chosen.includes(id)}
            onChange={(isWanted) => onChange(isWanted ? [...chosen, id] : chosen.filter((one) => one !== id))}
          />
        ))}
      </div>
    </Group>
  );
};
