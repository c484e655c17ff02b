-- SPDX-License-Identifier: MIT
-- What a Lua program does: closures, strings, tables, sorting, coroutines, and errors (longjmp).
local function queens(n)
  local solutions, columns, up, down = 0, {}, {}, {}
  local function place(row)
    if row > n then
      solutions = solutions + 1
      return
    end
    for c = 1, n do
      if not (columns[c] or up[row + c] or down[row - c]) then
        columns[c], up[row + c], down[row - c] = true, true, true
        place(row + 1)
        columns[c], up[row + c], down[row - c] = nil, nil, nil
      end
    end
  end
  place(1)
  return solutions
end

local function words(text)
  local counts = {}
  for word in text:gmatch("%a+") do
    counts[word:lower()] = (counts[word:lower()] or 0) + 1
  end
  local names = {}
  for name in pairs(counts) do names[#names + 1] = name end
  table.sort(names, function(a, b)
    return counts[a] > counts[b] or counts[a] == counts[b] and a < b
  end)
  return table.concat(names, " ", 1, math.min(5, #names))
end

local function raises(depth)
  if depth == 0 then error({ code = 42 }) end
  return raises(depth - 1) + 1
end

local function count_up(limit)
  return coroutine.wrap(function()
    for i = 1, limit do coroutine.yield(i) end
  end)
end

print("queens", queens(6))
print("words", words(("the quick brown fox and the lazy dog and The end "):rep(20)))
for depth = 0, 20 do
  local ok, err = pcall(raises, depth)
  assert(not ok and err.code == 42)
end
local sum = 0
for i in count_up(500) do sum = sum + i end
print("coroutines", sum)
print("format", string.format("%5.2f %x %q %s", math.pi, 255, "a\nb", tostring(nil)))
print(pcall(load, "x = = 1"))
os.exit(3)
