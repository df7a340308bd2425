-- SPDX-License-Identifier: Apache-2.0 OR MIT
-- What: a load for MariaDB: inserts, indexes, joins, windows, JSON, a stored procedure, temporary tables.
-- Invariant: every number comes from arithmetic on a sequence; every result is ordered.
-- Must not know: the allocator.
CREATE TABLE part (id INT PRIMARY KEY, name VARCHAR(80), weight INT, note TEXT) ENGINE = InnoDB;
CREATE TABLE entry (id INT PRIMARY KEY, part INT, day INT, amount INT) ENGINE = InnoDB;
INSERT INTO part SELECT seq, CONCAT('part-', LPAD(seq * 7919 % 100003, 6, '0')), seq % 97, REPEAT(CHAR(97 + seq % 26), seq % 300)
    FROM seq_1_to_3000;
INSERT INTO entry SELECT seq, seq * 104729 % 3000 + 1, seq * 13 % 365, seq * 37 % 9973 FROM seq_1_to_20000;
CREATE INDEX entry_by_part ON entry (part, day);
ALTER TABLE part ADD FULLTEXT (name);

SELECT COUNT(*), SUM(amount), MIN(day), MAX(day) FROM entry;
SELECT weight, COUNT(*) AS entries, SUM(amount) AS total FROM part JOIN entry ON entry.part = part.id
    GROUP BY weight ORDER BY total DESC, weight LIMIT 15;
SELECT id, rank_in_weight FROM (SELECT id, RANK() OVER (PARTITION BY weight ORDER BY LENGTH(note) DESC, id) AS rank_in_weight
    FROM part) AS ranked WHERE rank_in_weight = 1 ORDER BY id LIMIT 15;
SELECT day, MD5(GROUP_CONCAT(amount ORDER BY id)) FROM entry WHERE day < 15 GROUP BY day ORDER BY day;
SELECT MD5(JSON_ARRAYAGG(JSON_OBJECT('id', id, 'name', name))) FROM (SELECT id, name FROM part ORDER BY id LIMIT 500) AS some;
SELECT COUNT(*) FROM part WHERE name REGEXP '^part-0*(1|2|3)+$' OR note LIKE '%zzzz%';

DELIMITER //
CREATE PROCEDURE churn(rounds INT)
BEGIN
    DECLARE i INT DEFAULT 0;
    WHILE i < rounds DO
        CREATE TEMPORARY TABLE scratch AS SELECT part, SUM(amount) AS total FROM entry WHERE day % 7 = i % 7 GROUP BY part;
        UPDATE part JOIN scratch ON scratch.part = part.id SET part.note = CONCAT(LEFT(part.note, 100), scratch.total);
        DROP TEMPORARY TABLE scratch;
        SET i = i + 1;
    END WHILE;
END //
DELIMITER ;
CALL churn(8);
CHECKSUM TABLE part, entry;
CHECK TABLE part, entry;
